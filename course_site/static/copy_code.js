// A button on each piece of code that copies it. Outputs have none.

const blocks = [...document.querySelectorAll("div.highlight")].filter((block) => !block.closest(".cell_output"));

for (const block of blocks) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-code";
  button.textContent = "copy";
  button.setAttribute("aria-label", "copy this code");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent);
      say(button, "copied");
    } catch {
      getSelection().selectAllChildren(block.querySelector("pre")); // a browser that does not let pages copy
      say(button, "selected");
    }
  });
  block.append(button);
}

function say(button, text) {
  button.textContent = text;
  button.setAttribute("aria-label", text);
  setTimeout(() => {
    button.textContent = "copy";
    button.setAttribute("aria-label", "copy this code");
  }, 1500);
}
