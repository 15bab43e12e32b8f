// Passkeys: asks the server for a challenge, the browser for an answer, and sends it with the form.
"use strict";

(() => {
  const TEXTS = {
    NotAllowedError: "No passkey was used: it was cancelled, or took too long.",
    InvalidStateError: "This device has a passkey of yours already.",
    SecurityError: "Passkeys work at the address of this console only: open it by that address.",
  };

  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));

  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const keys = (given) => (given || []).map((each) => ({ ...each, id: bytes(each.id) }));

  async function asked(form) {
    const response = await fetch(form.dataset.begin, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: form.dataset.token }),
    });
    if (response.type === "opaqueredirect") {
      location.reload(); // the session has ended, or asks for a confirmation
      return null;
    }
    if (response.ok) return response.json();
    const isSaid = (response.headers.get("content-type") || "").startsWith("text/plain");
    throw new Error(isSaid ? await response.text() : "");
  }

  async function made(options) {
    const publicKey = {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: keys(options.excludeCredentials),
    };
    const { id, rawId, type, response } = await navigator.credentials.create({ publicKey });
    return { id, rawId: text(rawId), type, response: {
      clientDataJSON: text(response.clientDataJSON),
      attestationObject: text(response.attestationObject),
      transports: response.getTransports ? response.getTransports() : [],
    } };
  }

  async function signed(options) {
    const publicKey = {
      ...options,
      challenge: bytes(options.challenge),
      allowCredentials: keys(options.allowCredentials),
    };
    const { id, rawId, type, response } = await navigator.credentials.get({ publicKey });
    return { id, rawId: text(rawId), type, response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      ...(response.userHandle ? { userHandle: text(response.userHandle) } : {}),
    } };
  }

  async function onSubmit(event) {
    event.preventDefault();
    event.stopPropagation();
    const form = event.target;
    if (form.dataset.busy) return;
    const fault = form.querySelector("[data-fault]");
    fault.hidden = true;
    form.dataset.busy = "yes";
    try {
      const options = await asked(form);
      if (options === null) return;
      const answer = await (form.dataset.passkey === "create" ? made : signed)(options);
      form.elements.credential.value = JSON.stringify(answer);
      form.submit();
    } catch (error) {
      const said = error instanceof DOMException ? TEXTS[error.name] : error.message;
      fault.textContent = said || "That did not work. Load the page again.";
      fault.hidden = false;
    } finally {
      delete form.dataset.busy;
    }
  }

  const isServed = window.PublicKeyCredential !== undefined && navigator.credentials !== undefined;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = !isServed;
    form.addEventListener("submit", onSubmit);
  }
  for (const without of document.querySelectorAll("[data-without]")) without.hidden = isServed;
})();
