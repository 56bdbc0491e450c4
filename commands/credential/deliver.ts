import { defineCommand } from '../../cli/define-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Have the messages of an offer sent once more, with a new link (issuer)',
  description:
    'For an offer that was made with --deliver. Webhooks with --deliver get the link, and the transaction code if the offer has --code-to. Earlier links stay valid.',
  examples: ['agent credential deliver <id>'],
  args: idOf('credential record'),
  async run({ args, call, print, suggest }) {
    const record = await call('POST /issue-credentials/records/{recordId}/deliver', {
      path: { recordId: args.id },
    })
    print(record.recordId, credentialFields(record))
    suggest(`agent credential show ${record.recordId}`)
    return record
  },
})
