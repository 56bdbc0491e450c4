#!/usr/bin/env node
/**
 * The entry point of the command line. It answers `--version` and shell completion without loading the
 * commands. CommonJS, because Node.js starts it sooner than an ES module.
 */
const { findOldNode } = require('./node-version.cjs')

const old = findOldNode()
if (old) {
  console.error(old)
  process.exit(1)
}

const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

const argv = process.argv.slice(2)
if (argv.length === 1 && ['--version', '-v', 'version'].includes(argv[0])) {
  const { name, version } = readJson('package.json')
  console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else if (!existsSync(join(root, 'dist/commands.cjs'))) {
  console.error('agent is not built yet. Build it with `npm run build`, then try again.')
  process.exitCode = 1
} else if (argv[0] === 'complete' && argv[1] === '--') {
  const { complete } = require('../dist/complete.cjs')
  const { commands } = readJson('oclif.manifest.json')
  const manifest = { commands, topics: readJson('package.json').oclif.topics }
  complete(manifest, argv.slice(2)).then((text) => process.stdout.write(text))
} else {
  const isHelp = argv.length === 0 || argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')
  const { exports } = require('./load.cjs').load('commands.cjs', isHelp ? 'help' : 'command')
  const { start, commands, reportCrash } = exports
  start(argv, { root, pjson: readJson('package.json'), commands }).catch((error) => reportCrash(error, argv))
}
