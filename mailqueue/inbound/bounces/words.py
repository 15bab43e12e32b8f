"""Classify the sentences of mail servers by cause, in order of precedence. Pure.

Where a sentence has two causes the milder one counts, so an address is marked dead only by an
unambiguous text. Texts are cut beforehand and every repetition is bounded, so no text can make a
pattern slow.
"""

import re
from functools import lru_cache

from mailqueue.inbound.bounces.model import Cause

MAX_CHARACTERS = 1_000

_I = re.IGNORECASE
_ADDRESS = r"<?[\w.+=/-]{1,64}@[\w.-]{1,80}>?"
_WHO = (
    r"(?:user|recipient|mail ?box|address|account|alias|mail ?drop|addressee|receiver|destination"
    r"|person|rcpt|userid|username|customer|e-?mail|inbox|mail-?addr(?:ess)?|subscriber)s?"
)
_NAMED = rf"(?: ?[:,]? ?(?:{_ADDRESS}|<[^>\n]{{1,80}}>|\([^)\n]{{1,60}}\)|[\w.+-]{{1,40}}))?"
_IS = r"(?: (?:is|was|are|has|have|been|be|it|could|can|does|do|did|currently|the)){0,8}"

FULL = re.compile(
    r"(?:mail ?box|folder|mail ?drop|inbox|account|maildir|store)[^.\n]{0,40}\bfull\b|\bquota\b"
    r"|over ?quota|full mail ?box|mailbox full|(?:exceed|over)[^.\n]{0,40}(?:storage|disk|mailbox)"
    r"|(?:storage|disk|mailbox)[^.\n]{0,30}exceed|insufficient (?:system |disk |mail )?storage"
    r"|not enough (?:storage|disk|space)|(?:disk|mailbox|storage) space|no space left|out of space"
    r"|too many messages in|mailbox (?:size )?limit|too large mailbox|mailfolder is full"
    r"|user has too many messages|maximum number of messages",
    _I,
)
SIZE = re.compile(
    r"(?:message|mail|content|body)(?: (?:is|was|file|header|body)){0,4} (?:too (?:big|large|long)"
    r"|exceeds|size|larger|length exceeds)|size limit|maximum (?:message |allowed )?size"
    r"|max(?:imum)? (?:message|mail) (?:size|length)|exceed[^.\n]{0,40}\bsize\b|too large\b",
    _I,
)
RATE = re.compile(
    r"too fast|too many (?:messages|mails|connections|errors|recipients|sessions|concurrent|smtp)"
    r"|throttl|slow down|rate[ -]limit|\brate that\b|at a rate|excessive|exceeded the (?:rate"
    r"|number|maximum number)|temporarily deferred|connection (?:rate|limit)|limit exceeded",
    _I,
)
CONTENT = re.compile(
    r"\bvirus|malware|infected|banned|\bspam|\bu[bc]e\b|message content|content[- ](?:reject|filter"
    r"|restrict|polic|scan)|forbidden|dangerous|phish|unsolicited|bulk mail|junk|illegal attach"
    r"|attachment|blocked by [^.\n]{0,20}filter|duplicate header|rfc ?-?(?:2822|5322|822|5321)"
    r"|not (?:rfc )?complian|suspicious|suspected|rejected (?:after|for) (?:data|content|polic)"
    r"|detected|bare (?:lf|cr|newline)|filter rule|invalid header|loop detected header",
    _I,
)
POLICY = re.compile(
    r"\bblock(?:ed|list|ing|s)?\b|black ?list|deny ?list|blackhole|\brbl\b|dnsbl|spamhaus|spamcop"
    r"|barracuda|\bsorbs\b|reputation|\bpolic(?:y|ies)\b|dmarc|\bspf\b|dkim|senderid"
    r"|reverse[- ](?:dns|map|lookup)|\brdns\b|\bptr\b|not (?:authenticated|authori[sz]ed|permitted"
    r"|allowed)|authenticat|access (?:denied|rejected|restrict)|refused to talk"
    r"|(?<!not )\blisted (?:at|on|in|by)\b"
    r"|your (?:ip|host\b|server|network|domain|email system|e-?mail (?:has been|was)|mail (?:server"
    r"|host)|isp\b)|permission|prohibited|\bdenied\b|sender(?:'s)? (?:address |domain |id |e-?mail"
    r" ){0,6}(?:rejected|verif|is not|does not|unknown|invalid|block|must|could)"
    r"|bad sender|invalid sender|unknown sender|domain of sender|mail from (?:domain|command)"
    r"|return address|\bh?elo\b|\behlo\b|gr[ae]y-?list|rejected by (?:the )?recipient|restricted"
    r"|only accepts? |do(?:es)? not accept (?:mail|messages|e-?mail) from|starttls|\btls\b"
    r"|challenge|closed (?:group|list)|members? only|not (?:a )?member|moderat|complaint"
    r"|client host|from: domain|valid from|contact your|whitelist|administrator has|unauthori[sz]ed"
    r"|refused\b(?! connection)|not accepted from|confirm|trusted|approved",
    _I,
)
RELAY = re.compile(
    r"relay|rcpthosts|control/locals|not local|we do not (?:relay|serve)|not a gateway",
    _I,
)
DISABLED = re.compile(
    rf"{_WHO}{_NAMED}{_IS} (?:temporar(?:il)?y |permanently |now ){{0,3}}"
    r"(?:disabled|deactivated|inactiv|suspended|locked|closed|expired|discontinued"
    r"|frozen|terminated|cancell?ed|on hold|retired"
    r"|(?:not|no longer) (?:active|in service|in use)|unavailable due)"
    rf"|(?:disabled|inactive|deactivated|suspended|closed|locked|dormant|expired) {_WHO}"
    r"|unavailable due to inactivity",
    _I,
)
MOVED = re.compile(
    r"has (?:been )?moved|user (?:has )?moved|address (?:has )?changed|been replaced by"
    r"|new (?:e-?mail )?address|please (?:try|use) [^\n]{0,20}@|no longer (?:at|with|works?"
    r"|working|employed)",
    _I,
)
UNKNOWN_USER = re.compile(
    rf"(?:{_WHO}|name){_NAMED}:?{_IS} ?[:;,-]? ?(?:address )?(?:not? (?:be )?(?:known"
    rf"|found|exist|listed|valid"
    r"|recogni[sz]ed|here|available|a known|a valid|our customer|hosted)|\(?unknown"
    r"|invalid|non-?exist"
    r"|unrecogni[sz]ed|incorrect|undeliverable|unrouteable|cannot be found|(?:doesn't|don't)"
    r" (?:exist|have)|not have an? )"
    r"|(?:unknown|invalid|no such|bad|unrecogni[sz]ed|non-?exist(?:e|i)n[tg]|undeliverable"
    r"|unrout(?:e)?able|illegal|not a (?:valid|known)|no valid|not? existing|nonexistent)[ -]"
    r"(?:or (?:invalid|unknown|illegal) |local |virtual |remote |final |mail |e-?mail |smtp"
    r" |destination ){0,6}"
    rf"(?:{_WHO}|name|local[ -]?part)"
    r"|(?:does not|doesn't|didn't|do not|don't|did not) (?:exist|match any"
    rf"|have (?:an? |any )?(?:[\w.-]{{1,30}} )?(?:{_WHO})|handle mail for)"
    rf"|no (?:{_WHO}|one|body|such)\b[^.\n]{{0,30}}(?:here|by that|with that|found|exists?|named"
    r"|currently|at this|in this|of that|for)"
    rf"|there is no (?:one|such|{_WHO})|no such (?:user|person|address)|nobody (?:here )?by that"
    r"|not (?:our|a) customer|not listed in|unknown (?:in|to) |user[ -]?unknown|unknown[ -]?user"
    r"|(?:recipient|address|user)[^\n]{0,80} rejected: (?:user |undeliverable|unknown|unverified"
    r"|no such|rcpt_ack)|(?:couldn't|wasn't|could not|was not|cannot|can't|not) (?:be )?found"
    r"|no longer (?:valid|exist|in use|available|receiv|accepting|monitored|a valid|have)"
    r"|recipnotfound|adr\.inv|is not an? (?:active|known|valid|registered|existing|local)"
    r"|unable to (?:find|locate|verify) (?:the |this )?(?:recipient|user)|#5\.1\.1"
    r"|@\S{1,80} unknown"
    r"|all recipient addresses rejected|unknown or illegal|no mapping|name not found|does not live"
    r"|not in (?:the |our )?directory|has no (?:mailbox|account)|isn't (?:a|our)|nonexistent"
    r"|invalid (?:final delivery )?userid|adresse[^.\n]{0,80} n'existe pas"
    r"|not a (?:valid|real|known|current)|account that you tried to reach does",
    _I,
)
UNKNOWN_HOST = re.compile(
    r"(?:host|domain|system"
    r"|site)(?: or domain)?(?: name)?(?: part)?"
    r"(?: ?[(<:'\"]?(?=[\w-]{0,80}\.)[\w.-]{1,80}[)>'\"]?:?)?"
    rf"{_IS} ?:? ?(?:not? (?:be )?(?:found|exist|known|valid|resolv)|unknown|invalid|non-?exist"
    r"|doesn't exist|unrouteable|no such)|(?:unknown|invalid|no such|bad|illegal|non-?existent"
    r"|unroutable) (?:mail )?(?:host|domain|destination system|site)|nxdomain"
    r"|name or service not known|couldn't find (?:a |any )?(?:host|mail exchanger)"
    r"|no smtp service|no (?:mx|a) record"
    r"|all relevant mx records|unrout(?:e)?able (?:mail )?domain|null ?mx|nullmx"
    r"|(?:domain|host) (?:has no|does not accept mail)|no mail (?:server|exchange)|host/domain",
    _I,
)
EXPIRED = re.compile(
    r"retry time ?out|(?:delivery|delivery time|message|mail|time)(?: has)? expired|too old"
    r"|been in the queue|gave up|giv(?:e|ing) up(?! on \d)"
    r"|(?:for|more than|within|after|in) (?:the last )?"
    r"\d+(?:\.\d+)? (?:consecutive )?(?:days?|hours?)|undeliverable for|queue too long"
    r"|in the queue too|retry(?:ing)? period|still undelivered",
    _I,
)
LOOP = re.compile(r"too many hops|mail(?:er)? loop|hop count|loop(?:s|ing)? back|looping", _I)
NETWORK = re.compile(
    r"connection|timed? ?out|no route|unreachable|network error|connect to|conversation with"
    r"|no answer from|not responding|servfail|temporar|try again|name ?server|name service"
    r"|\bdns\b|lookup|read error|smtp protocol|bad response|not reachable",
    _I,
)
SYSTEM = re.compile(
    r"local (?:error|config|delivery)|system (?:error|resources|is not|failure|config)|mailer"
    r"|command (?:died|failed|output|time)|can(?:no|')t (?:create|open|append|write|lock)"
    r"|internal|operating system|input/output|i/o error|unable to (?:open|lock|create|write)"
    r"|service (?:un|not )|insufficient|resources|pipe to|procmail|maildrop|transport error",
    _I,
)

IN_ORDER: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    (Cause.FULL, FULL),
    (Cause.SIZE, SIZE),
    (Cause.RATE, RATE),
    (Cause.CONTENT, CONTENT),
    (Cause.POLICY, POLICY),
    (Cause.RELAY, RELAY),
    (Cause.DISABLED, DISABLED),
    (Cause.MOVED, MOVED),
    (Cause.UNKNOWN_HOST, UNKNOWN_HOST),
    (Cause.UNKNOWN_USER, UNKNOWN_USER),
    (Cause.EXPIRED, EXPIRED),
    (Cause.LOOP, LOOP),
    (Cause.NETWORK, NETWORK),
    (Cause.SYSTEM, SYSTEM),
)


_ADDRESSES = re.compile(
    r"(?<=[<\s:'\"(])[\w.+=/-]{1,64}@[\w-][\w.-]{1,80}(?=[>\s,;:'\")]|$)", re.MULTILINE
)
_PATHS = re.compile(r"(https?://[^\s/]{1,100})/[^\s]{0,300}")


@lru_cache(maxsize=256)  # many recipients are refused with the same text
def causes_in(text: str) -> tuple[Cause, ...]:
    """Return all causes that a sentence names, by precedence.

    Addresses and the paths of links are removed first: spam@ and /policy are not causes.
    """
    cut = _PATHS.sub(r"\1", _ADDRESSES.sub("x@x", text[:MAX_CHARACTERS]))
    return tuple(cause for cause, words in IN_ORDER if words.search(cut))
