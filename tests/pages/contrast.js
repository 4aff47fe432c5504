// Of every text that is seen and stands out too little from what it stands on, the ratio of their
// luminances (WCAG 2.2, success criterion 1.4.3).
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (colour, under) => {
    for (const style of [`rgb(${under.join(" ")})`, colour]) {
      canvas.fillStyle = style;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.map((x) => linear(x / 255))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    const layers = [];
    for (let x = element; x; x = x.parentElement) layers.unshift(getComputedStyle(x));
    const paper = layers.reduce((under, x) => painted(x.backgroundColor, under), [255, 255, 255]);
    const cell = element.matches("text.n") && getComputedStyle(element.parentElement.firstChild);
    if (!cell || cell.fill.startsWith("url")) return paper;
    return painted(cell.fill.replace(")", ` / ${cell.fillOpacity})`).replaceAll(",", ""), paper);
  };
  const found = {};
  for (const element of document.querySelectorAll("body *")) {
    const says = [...element.childNodes].some((x) => x.nodeType === 3 && x.data.trim());
    const unseen = element.closest(".say, .skip, script, title, option");
    if (!says || unseen || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), paper = ground(element);
    const ink = painted(element.matches("text") ? style.fill : style.color, paper);
    const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const kind = `${element.tagName}.${element.getAttribute("class") ?? ""}: ${ink} on ${paper}`;
    if (ratio < 4.5) found[kind] = ratio;
  }
  return found;
}
