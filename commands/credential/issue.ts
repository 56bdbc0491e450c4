import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Issue the credential of an accepted offer (issuer)',
  examples: ['agent credential issue <id>', 'agent credential issue <id> --wait'],
  args: idOf('credential record'),
  flags: waitFlags('the credential was sent'),
  questions: { id: whichRecord('credential', 'credential issue') },
  async run(context) {
    const { args, call } = context
    return changeRecord(context, 'credential', {
      until: 'CredentialSent',
      change: () =>
        call('POST /issue-credentials/records/{recordId}/issue-credential', {
          path: { recordId: args.id },
        }),
      next: ({ recordId }) => `agent credential show ${recordId}`,
    })
  },
})
