/** Imports the dashboard for `agent tui`, because bundles that bin/load.cjs loads cannot call `import()`. */
module.exports = () => import('../dist/tui.js')
