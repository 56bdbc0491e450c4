import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { anchorFields } from '../../cli/format/trust-anchor.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a trusted authority or issuer',
  examples: ['agent trust show <id>', 'agent trust show <id> --value > root.pem'],
  args: idOf('trust anchor'),
  flags: {
    value: Flags.boolean({
      description: 'print the certificate in PEM, the DID, the key identifier, or the list in base64',
    }),
  },
  async run({ args, flags, call, log, print }) {
    const shown = await call('GET /trust-anchors/{id}', { path: { id: args.id } })
    if (flags.value) log(shown.value)
    else print(shown.id, anchorFields(shown))
    return shown
  },
})
