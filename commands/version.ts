import { defineLocalCommand } from '../cli/define-command.ts'
import packageJson from '../package.json' with { type: 'json' }

/** `bin/agent.cjs` prints the same line without loading the commands. */
export default defineLocalCommand({
  summary: 'Print the version of this program and of Node.js',
  examples: ['agent version', 'agent version --json'],
  async run({ log }) {
    const { name, version } = packageJson
    const platform = `${process.platform}-${process.arch}`
    log(`${name}/${version} ${platform} node-${process.version}`)
    return { name, version, platform, node: process.version }
  },
})
