// Charts, drawn from the tables beside them.
"use strict";

(() => {
  const SERIES = [
    { label: "Sent", colour: "--good" },
    { label: "Deferred", colour: "--poor" },
    { label: "Bounced", colour: "--busy" },
    { label: "Failed", colour: "--bad" },
  ];
  const HEIGHT = 190;
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const time = (seconds) => clock.format(new Date(seconds * 1000));
  const drawn = new Map();

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function figures(chart) {
    const rows = [...chart.querySelectorAll("tr[data-at]")].reverse();
    const columns = [rows.map((row) => Number(row.dataset.at)), ...SERIES.map(() => [])];
    for (const row of rows) {
      const cells = row.querySelectorAll("td[data-value]");
      SERIES.forEach((_, place) => {
        columns[place + 1].push(cells.length ? Number(cells[place].dataset.value) : null);
      });
    }
    return columns;
  }

  function options(width) {
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    return {
      width,
      height: HEIGHT,
      padding: [12, 30, 0, 0], // the last time of the axis is half to the right of it
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
      axes: [{ ...axis, values: (_, at) => at.map(time), size: 34, space: 74 }, { ...axis, size: 56 }],
      legend: { markers: { fill: (_, place) => colour(SERIES[place - 1].colour) } },
      series: [{ label: "Time", value: (_, at) => (at === null ? "–" : time(at)) }, ...SERIES.map((each) => ({
        label: each.label,
        value: (_, count) => count ?? "–",
        stroke: colour(each.colour),
        width: 1.5,
        points: { show: false },
      }))],
    };
  }

  function draw(chart) {
    const place = chart.querySelector(".plot");
    drawn.get(chart.dataset.chart)?.destroy();
    place.hidden = false;
    drawn.set(chart.dataset.chart, new uPlot(options(place.clientWidth), figures(chart), place));
  }

  function drawAll() {
    if (typeof uPlot === "undefined") return;
    for (const chart of document.querySelectorAll("[data-chart]")) draw(chart);
  }

  function fit() {
    for (const plot of drawn.values()) {
      const width = plot.root.parentElement?.clientWidth;
      if (width && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    }
  }

  drawAll();
  document.addEventListener("live:shown", (event) => {
    if (event.detail.includes("traffic")) drawAll();
  });
  window.addEventListener("resize", fit);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
