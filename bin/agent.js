#!/usr/bin/env node
/** The entry point of the command line: hands argv to oclif. `--version`, and what shells ask on a tab, is answered before oclif is loaded. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const readJson = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

const argv = process.argv.slice(2)
if (argv.length === 1 && ['--version', '-v', 'version'].includes(argv[0])) {
  const { name, version } = readJson('../package.json')
  console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else if (!existsSync(new URL('../dist/commands.cjs', import.meta.url))) {
  console.error('agent is not built yet. Build it with `npm run build`, then try again.')
  process.exitCode = 1
} else if (argv[0] === 'complete' && argv[1] === '--') {
  const { complete } = createRequire(import.meta.url)('../dist/complete.cjs')
  const { commands } = readJson('../oclif.manifest.json')
  process.stdout.write(await complete({ commands, topics: readJson('../package.json').oclif.topics }, argv.slice(2)))
} else {
  const { load } = await import('./load.js')
  const { run, handle } = load()
  await run(argv, import.meta.url).catch((error) => {
    if (error.oclif?.exit === 127) error.oclif.exit = 2 // a command that does not exist is a usage error like any other
    return handle(error)
  })
}
