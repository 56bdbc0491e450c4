import { defineCommand } from '../../cli/define-command.ts'
import { yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import { keyFlag, urlArgument } from '../../cli/vdr.ts'

export default defineCommand({
  summary: 'Remove an entry of the verifiable data registry',
  description: 'Asks for confirmation; in scripts use --yes.',
  examples: ["agent vdr remove '<url>'", "agent vdr remove '<url>' --yes"],
  args: { url: urlArgument },
  flags: { 'vdr-key': keyFlag, yes: yesFlag },
  async run({ args: { url }, flags, call, print }) {
    if (!flags.yes) await confirm('Remove the entry? This cannot be undone.')
    const { operationId } = await call('DELETE /vdr/entries', { query: { url, didKeyId: flags['vdr-key'] } })
    print(url, [
      ['removed', url],
      ['operation', operationId],
    ])
    return { url, removed: true, ...(operationId !== undefined && { operationId }) }
  },
})
