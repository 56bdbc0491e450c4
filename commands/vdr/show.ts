import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { safe } from '../../cli/format/text.ts'
import { writeNewFile } from '../../cli/input/files.ts'
import { readEntry, urlArgument } from '../../cli/vdr.ts'

export default defineCommand({
  summary: 'Show the content of an entry of the verifiable data registry',
  description: 'Prints text as it is, and other content in hexadecimal.',
  examples: [
    "agent vdr show 'vdr://?drf=database&drid=database&drv=0.1.0&m=1#<id>'",
    "agent vdr show '<url>' --output list.bin",
  ],
  args: { url: urlArgument },
  flags: { output: Flags.string({ char: 'o', description: 'new file for the content' }) },
  async run({ args: { url }, flags: { output }, getFileClient, log, print }) {
    const content = await readEntry({ getFileClient }, url)
    if (output !== undefined) {
      const bytes = await writeNewFile('output', output, async () => Readable.from([content]))
      print(output, [
        ['file', output],
        ['bytes', bytes],
      ])
    } else log(isUtf8(content) ? safe(content.toString('utf8')) : content.toString('hex'))
    return { url, content: content.toString('base64') }
  },
})
