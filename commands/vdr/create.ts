import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { contentArgument, keyFlag, sendEntry } from '../../cli/vdr.ts'

export default defineCommand({
  summary: 'Create an entry of the verifiable data registry, which anyone can read by its URL',
  examples: ['agent vdr create @list.bin', 'agent vdr create "some text" --driver database'],
  args: { content: contentArgument },
  flags: {
    driver: Flags.string({ description: 'the driver; default: the first that the agent has enabled' }),
    'vdr-key': keyFlag,
  },
  async run({ args, flags, getFileClient, print, suggest }) {
    const query = { drid: flags.driver, didKeyId: flags['vdr-key'] }
    const made = await sendEntry({ getFileClient }, { key: 'POST /vdr/entries', query }, args.content)
    print(made.url, [
      ['entry', made.url],
      ['operation', made.operationId],
    ])
    suggest(`agent vdr show '${made.url}'`)
    return made
  },
})
