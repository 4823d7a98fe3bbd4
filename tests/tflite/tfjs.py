"""Runs .tflite files in headless Chromium by npm's @tensorflow/tfjs-tflite, which is TensorFlow Lite itself.

usage: tfjs.py NODE_MODULES FOLDER

For each NAME.tflite of FOLDER with its inputs NAME.in0 ..., raw float32, or int32 for whole numbers, it writes the outputs
NAME.out0 ..., raw float32, and NAME.outs, a line of JSON for each: name, shape, type; or, where that fails,
NAME.error. Exits 1 where the browser does not end within LIMIT seconds.
"""
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

BROWSERS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
LIMIT = 300
KINDS = {"js": "text/javascript", "wasm": "application/wasm"}

PAGE = """<!doctype html>
<script src="/modules/@tensorflow/tfjs-core/dist/tf-core.min.js"></script>
<script src="/modules/@tensorflow/tfjs-backend-cpu/dist/tf-backend-cpu.min.js"></script>
<script src="/modules/@tensorflow/tfjs-tflite/dist/tf-tflite.min.js"></script>
<script>
async function bytes(name) { return (await fetch('/files/' + name)).arrayBuffer(); }
function post(url, body) { return fetch(url, {method: 'POST', body}); }
async function run(name) {
    const model = await tflite.loadTFLiteModel(await bytes(name + '.tflite')), given = [], lines = [];
    for (let k = 0; k < model.inputs.length; k++) {
        const raw = await bytes(name + '.in' + k), {shape, dtype} = model.inputs[k];
        given.push(tf.tensor(dtype === 'float32' ? new Float32Array(raw) : new Int32Array(raw), shape, dtype));
    }
    const result = model.predict(given.length === 1 ? given[0] : given);
    for (let k = 0; k < model.outputs.length; k++) {
        const output = result instanceof tf.Tensor ? result : result[model.outputs[k].name];
        lines.push(JSON.stringify([model.outputs[k].name, output.shape, output.dtype]) + '\\n');
        await post('/files/' + name + '.out' + k, Float32Array.from(output.dataSync()));
    }
    await post('/files/' + name + '.outs', lines.join(''));
}
(async () => {
    tflite.setWasmPath('/modules/@tensorflow/tfjs-tflite/wasm/');
    await tf.setBackend('cpu');
    for (const name of await (await fetch('/names')).json())
        try { await run(name); }
        catch (error) { await post('/files/' + name + '.error', String(error && error.message || error)); }
    await post('/done', '');
})();
</script>
"""


def handler_of(modules, folder, done):
    class Handler(http.server.BaseHTTPRequestHandler):
        def place(self):
            path = urllib.parse.unquote(self.path)
            if path.startswith("/modules/"):
                return os.path.join(modules, path[len("/modules/"):])
            return os.path.join(folder, os.path.basename(path))

        def answer(self, code, body, kind):
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/":
                self.answer(200, PAGE.encode(), "text/html")
            elif self.path == "/names":
                names = sorted(f[:-7] for f in os.listdir(folder) if f.endswith(".tflite"))
                self.answer(200, json.dumps(names).encode(), "application/json")
            elif os.path.isfile(self.place()):
                with open(self.place(), "rb") as file:
                    self.answer(200, file.read(), KINDS.get(self.path.rsplit(".", 1)[-1], "application/octet-stream"))
            else:
                self.answer(404, b"", "text/plain")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/done":
                done.set()
            else:
                with open(self.place(), "wb") as file:
                    file.write(body)
            self.answer(200, b"", "text/plain")

        def log_message(self, *arguments):
            pass

    return Handler


def main(modules, folder):
    browser = next((b for b in BROWSERS if shutil.which(b)), None)
    if not browser:
        sys.exit("there is no Chromium")
    done = threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(modules, folder, done))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        with open(os.path.join(folder, "browser.log"), "wb") as log:
            process = subprocess.Popen(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + home,
                 "--enable-logging=stderr", "http://127.0.0.1:%d/" % server.server_address[1]],
                stdout=log, stderr=log, env=dict(os.environ, HOME=home))
            ended = done.wait(float(os.environ.get("LIMIT", LIMIT)))
            process.terminate()
            process.wait()
    sys.exit(0 if ended else "the browser does not end")


main(*sys.argv[1:])
