// Runs models in ONNX Runtime: node onnxruntime.js FOLDER, where `npm install onnxruntime-node` was run or
// NODE_PATH says where. Of each NAME.onnx with NAME.in.json, {input: {dims, data, type}}, NAME.out.json gets
// the outputs, or {error}; type is float32 where there is none, or uint8.
// ORT_OPTIMIZATION=all: by the kernels that it puts in place of several nodes, as those in int8.
const fs = require('fs'), path = require('path'), ort = require('onnxruntime-node');

async function run(name) {
    const inputs = JSON.parse(fs.readFileSync(name + '.in.json'));
    const session = await ort.InferenceSession.create(
        name + '.onnx', {logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: process.env.ORT_OPTIMIZATION || 'disabled'});
    const feeds = {}, outputs = {};
    for (const input in inputs) {
        const {dims, data, type = 'float32'} = inputs[input];
        feeds[input] = new ort.Tensor(type, (type === 'uint8' ? Uint8Array : Float32Array).from(data), dims);
    }
    for (const [output, tensor] of Object.entries(await session.run(feeds)))
        outputs[output] = {dims: tensor.dims, data: Array.from(tensor.data, Number)};
    await session.release();
    return outputs;
}

(async () => {
    const folder = process.argv[2];
    for (const file of fs.readdirSync(folder).filter(file => file.endsWith('.in.json'))) {
        const name = path.join(folder, file.slice(0, -'.in.json'.length));
        const found = await run(name).catch(error => ({error: String(error.message)}));
        fs.writeFileSync(name + '.out.json', JSON.stringify(found));
    }
})();
