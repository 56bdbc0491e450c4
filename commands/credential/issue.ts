import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { claimFlags, readGivenClaims } from '../../cli/input/claims.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Issue the credential of an accepted offer (issuer)',
  description:
    'A credential whose claims source has not decided is issued with --claim or --claims; without them the source is asked again.',
  examples: [
    'agent credential issue <id>',
    'agent credential issue <id> --wait',
    'agent credential issue <id> --claims @claims.json',
  ],
  args: idOf('credential record'),
  flags: { ...claimFlags, ...waitFlags('the credential was sent') },
  questions: { id: whichRecord('credential', 'credential issue') },
  async run(context) {
    const { args, flags, call } = context
    const body = { claims: readGivenClaims(flags) }
    return changeRecord(context, 'credential', {
      until: 'CredentialSent',
      change: () =>
        call('POST /issue-credentials/records/{recordId}/issue-credential', {
          path: { recordId: args.id },
          body,
        }),
      next: ({ recordId }) => `agent credential show ${recordId}`,
    })
  },
})
