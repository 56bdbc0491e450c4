import { defineCommand } from '../../cli/define-command.ts'
import { contentArgument, keyFlag, sendEntry, urlArgument } from '../../cli/vdr.ts'

export default defineCommand({
  summary: 'Replace the content of an entry of the verifiable data registry; its URL stays the same',
  examples: ["agent vdr update '<url>' @list.bin"],
  args: { url: urlArgument, content: contentArgument },
  flags: { 'vdr-key': keyFlag },
  async run({ args: { url, content }, flags, getFileClient, print }) {
    const query = { url, didKeyId: flags['vdr-key'] }
    const changed = await sendEntry({ getFileClient }, { key: 'PUT /vdr/entries', query }, content)
    print(changed.url, [
      ['entry', changed.url],
      ['operation', changed.operationId],
    ])
    return changed
  },
})
