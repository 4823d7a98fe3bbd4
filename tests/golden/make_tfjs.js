// Networks of TensorFlow.js, and what it computes of a picture, for test_pretrained.sh:
//
//     npm install @tensorflow/tfjs@4.22.0
//     NODE_PATH=node_modules node tests/golden/make_tfjs.js PACKAGE
//
// PACKAGE is the unpacked npm package nsfwjs 4.3.0. Writes tests/golden/tfjs: a package of the same form with
// a small network of each kind of layer, and the means of both networks' last layer, a number on each line.
const fs = require('fs'), path = require('path'), tf = require('@tensorflow/tfjs');
const folder = path.join(__dirname, 'tfjs'), models = 'dist/models/mobilenet_v2';

// Pixels as test_pretrained.sh makes them, in -1 .. 1.
function picture(side) {
    const values = [];
    for (let y = 0; y < side; y++)
        for (let x = 0; x < side; x++)
            for (let c = 0; c < 3; c++)
                values.push((x * 7 + y * 13 + c * 29 + (x * y) % 23 * 5) % 256 / 127.5 - 1);
    return tf.tensor4d(values, [1, side, side, 3]);
}

async function writeMeans(model, data, side, file) {
    const topology = JSON.parse(JSON.stringify(model.modelTopology)), config = topology.model_config.config;
    const last = config.layers.findIndex(layer => layer.name === 'out_relu');
    config.layers = config.layers.slice(0, last + 1);
    config.layers[0].config.batch_input_shape = [null, side, side, 3];
    config.output_layers = [['out_relu', 0, 0]];
    const load = async () => ({modelTopology: topology, weightSpecs: model.weightsManifest[0].weights,
                               weightData: new Uint8Array(data).buffer});
    const network = await tf.loadLayersModel({load}, {strict: false});
    const means = await network.predict(picture(side)).mean([1, 2]).data();
    fs.writeFileSync(path.join(folder, file), Array.from(means, mean => mean.toPrecision(8) + '\n').join(''));
}

// ---- A small network ----

const layers = [], weights = [], bytes = [];

function addWeight(name, shape, min, scale) {
    weights.push({name, shape, dtype: 'float32', quantization: {min, scale, dtype: 'uint8'}});
    for (let i = shape.reduce((a, b) => a * b); i > 0; i--)
        bytes.push((bytes.length * 2654435761 >>> 13) % 256);
}

function add(class_name, name, sources, config) {
    layers.push({name, class_name, config: {name, trainable: false, ...config},
                 inbound_nodes: sources.length ? [sources.map(source => [source, 0, 0, {}])] : []});
    return name;
}

function convolution(name, source, config, inputs, outputs) {
    const isDepthwise = outputs === 0, side = config.kernel_size[0];
    add(isDepthwise ? 'DepthwiseConv2D' : 'Conv2D', name, [source],
        {data_format: 'channels_last', dilation_rate: [1, 1], activation: 'linear', use_bias: false,
         ...isDepthwise ? {depth_multiplier: 1} : {filters: outputs}, ...config});
    addWeight(name + '/' + (isDepthwise ? 'depthwise_kernel' : 'kernel'),
              [side, side, inputs, outputs || 1], -.4, .003);
    const channels = outputs || inputs, normal = name + '_BN';
    add('BatchNormalization', normal, [name], {axis: -1, momentum: .999, epsilon: .001, center: true, scale: true});
    addWeight(normal + '/gamma', [channels], .5, .01);
    addWeight(normal + '/beta', [channels], -.2, .02);
    addWeight(normal + '/moving_mean', [channels], -.5, .004);
    addWeight(normal + '/moving_variance', [channels], .05, .003);
    return normal;
}

function rectify(name, source) {
    return add('ReLU', name, [source], {max_value: 6, negative_slope: 0, threshold: 0});
}

function makeSmall() {
    const one = {kernel_size: [1, 1], strides: [1, 1], padding: 'same'}, three = {...one, kernel_size: [3, 3]};
    const half = {kernel_size: [3, 3], strides: [2, 2], padding: 'valid'}, pad = {padding: [[0, 1], [0, 1]]};
    add('InputLayer', 'input_1', [], {batch_input_shape: [null, 224, 224, 3], dtype: 'float32', sparse: false});
    let x = add('ZeroPadding2D', 'Conv1_pad', ['input_1'], {...pad, data_format: 'channels_last'});
    x = rectify('Conv1_relu', convolution('Conv1', x, half, 3, 5));
    x = add('ZeroPadding2D', 'block_pad', [x], {...pad, data_format: 'channels_last'});
    x = convolution('block_project', rectify('block_relu', convolution('block_depthwise', x, half, 5, 0)), one, 5, 4);
    const expanded = rectify('more_relu', convolution('more_expand', x, three, 4, 6));
    x = add('Add', 'more_add', [x, convolution('more_project', expanded, one, 6, 4)], {});
    rectify('out_relu', convolution('Conv_1', x, one, 4, 7));
    return {modelTopology: {model_config: {class_name: 'Model', config: {
        name: 'model_1', layers, input_layers: [['input_1', 0, 0]], output_layers: [['out_relu', 0, 0]]}}},
            weightsManifest: [{paths: ['group1-shard1of1'], weights}]};
}

// A module as the package has it, with literals as its compressor writes them.
function writeModule(name, value) {
    const literal = JSON.stringify(value).replace(/"(\w+)":/g, '$1:').replace(/:true/g, ':!0')
        .replace(/:false/g, ':!1').replace(/([:,[-])0\./g, '$1.');
    const file = path.join(folder, models, name + '.min.js');
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, '!function(e){module.exports=e()}(function(){return function e(a,n,i){var r=' +
        'n[1]={exports:{}};return a[1][0].call(r.exports,null,r,r.exports),r.exports}({1:[function(e,a,n){' +
        'a.exports=' + literal + '},{}]},{},[1])});\n');
    return require(file);
}

(async () => {
    const real = path.resolve(process.argv[2], models);
    await tf.setBackend('cpu');
    const small = writeModule('model', makeSmall());
    const data = writeModule('group1-shard1of1', Buffer.from(bytes).toString('base64'));
    await writeMeans(small, Buffer.from(data, 'base64'), 32, 'small.txt');
    await writeMeans(require(real + '/model.min.js'),
                     Buffer.from(require(real + '/group1-shard1of1.min.js'), 'base64'), 64, 'mobilenet_v2.txt');
})();
