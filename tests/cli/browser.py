# SPDX-License-Identifier: BSD-3-Clause
"""Opens a page in a headless Chromium and prints what is wrong with it, a line each. browser.py FILE [SELECTOR]

Nothing may be loaded or reported; every table has headings; the keyboard reaches all that opens; text can be read in
light and dark; a narrow window does not scroll sideways; it can be printed. With SELECTOR it prints instead the text of
each such element that is shown, blanks as one. With PICTURE in the environment, $PICTURE-light.png and
$PICTURE-dark.png are made.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

# The least contrast of any text with what is behind it (WCAG: 4.5 for normal text), and whose it is.
CONTRAST = """(() => {
  const read = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = read(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let least = [99, ""];
  for (const e of document.body.querySelectorAll("*")) {
    if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
    const a = light(read(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, e.tagName + "." + e.className + " " + e.textContent.slice(0, 40)];
  }
  return least;
})()"""

TEXTS = "[...document.querySelectorAll(%s)].map(e => e.innerText.replace(/\\s+/g, ' ').trim())"


class Browser:
    """Chromium's DevTools protocol, over a pair of pipes."""

    def __init__(self, profile):
        theirs, self.into = os.pipe()
        self.out, ours = os.pipe()
        self.count = 0
        self.events = []
        self.rest = b""

        def inherit():
            os.dup2(theirs, 30)
            os.dup2(ours, 40)
            os.dup2(30, 3)
            os.dup2(40, 4)

        self.child = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--user-data-dir=" + profile, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=inherit, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(ours)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.out, 1 << 16)
            if not piece:
                raise EOFError("chromium has ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def eval(self, text):
        answer = self.ask("Runtime.evaluate", expression=text, returnByValue=True)
        return answer["result"].get("value")

    def press(self, key):
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def end(self):
        """With its children, which would still write to the profile while that is removed."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        while True:
            try:
                os.killpg(self.child.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)


def check_loading(browser, url):
    for event in browser.events:
        request = event.get("params", {}).get("request", {}).get("url", "")
        if event.get("method") == "Network.requestWillBeSent" and request != url and not request.startswith("data:"):
            yield f"it loads {request}"
        if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                                   "Page.javascriptDialogOpening"):
            yield f"the browser says {json.dumps(event['params'])[:300]}"
    scripts = browser.eval("document.querySelectorAll('script').length")
    if scripts != 2:
        yield f"it has {scripts} scripts"
    for tag in ("img", "iframe", "object", "link[rel=stylesheet]", "form", "[onerror]", "[onclick]"):
        if browser.eval(f"document.querySelectorAll({json.dumps(tag)}).length"):
            yield f"it has {tag}"


def check_structure(browser):
    headings = browser.eval("[...document.querySelectorAll('h1, h2')].map(e => e.textContent)")
    for name in ("Messages", "At a glance", "Nodes"):
        if name not in headings:
            yield f"no heading {name}"
    if browser.eval("document.compatMode") != "CSS1Compat" or browser.eval("document.documentElement.lang") != "en":
        yield "no HTML document in English"
    if browser.eval("[...document.querySelectorAll('table')].some(t => !t.querySelector('thead th[scope=col]'))"):
        yield "a table without headings"
    if browser.eval("[...document.querySelectorAll('details')].some(d => d.firstElementChild.tagName != 'SUMMARY')"):
        yield "something that opens without a word"
    if browser.eval("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") != browser.eval(
            "document.querySelectorAll('[id]').length"):
        yield "an id twice"
    if browser.eval("[...document.querySelectorAll('th, td, dd')].some(e => /undefined|null|NaN/.test(e.textContent))"):
        yield "a value is missing"


def check_keyboard(browser):
    active = "document.activeElement"
    seen = 0
    for _ in range(browser.eval("document.querySelectorAll('summary').length") + 2):
        browser.press("Tab")
        if browser.eval(active + ".tagName") != "SUMMARY":
            break
        seen += 1
        if browser.eval("getComputedStyle(document.activeElement).outlineStyle") == "none":
            yield "where the keyboard is cannot be seen"
            break
        if seen == 1:
            browser.press("Enter")
            if not browser.eval(active + ".parentElement.open"):
                yield "the keyboard opens nothing"
    if seen < browser.eval("document.querySelectorAll('summary:not(details details summary)').length"):
        yield f"the keyboard reaches {seen} of what opens"


def check_colours(browser, picture):
    backs = []
    for scheme in ("light", "dark"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        backs.append(browser.eval("getComputedStyle(document.body).backgroundColor"))
        ratio, whose = browser.eval(CONTRAST)
        if ratio < 4.5:
            yield f"{scheme}: a contrast of {ratio:.2f}: {whose}"
        if picture:
            data = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            with open(f"{picture}-{scheme}.png", "wb") as file:
                file.write(base64.b64decode(data))
    if backs[0] == backs[1]:
        yield "light and dark are the same"


def check_sizes(browser):
    browser.ask("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=False)
    width = browser.eval("document.documentElement.scrollWidth")
    if width > 360:
        yield f"a window of 360 pixels scrolls sideways: {width}"
    browser.ask("Emulation.clearDeviceMetricsOverride")
    if base64.b64decode(browser.ask("Page.printToPDF", printBackground=True)["data"])[:5] != b"%PDF-":
        yield "it cannot be printed"


def main():
    url = "file://" + os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            for domain in ("Page", "Network", "Log", "Runtime"):
                browser.ask(domain + ".enable")
            browser.ask("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
            browser.events.clear()
            browser.ask("Page.navigate", url=url)
            browser.wait("Page.loadEventFired")
            if len(sys.argv) > 2:
                print(*browser.eval(TEXTS % json.dumps(sys.argv[2])), sep="\n")
                return
            for check in (check_loading(browser, url), check_structure(browser), check_keyboard(browser),
                          check_colours(browser, os.environ.get("PICTURE")), check_sizes(browser)):
                for wrong in check:
                    print(wrong)
        finally:
            browser.end()


main()
