import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Decline an offer (holder)',
  description: 'Notifies the issuer. The offer can no longer be accepted.',
  examples: ['agent credential reject <id>'],
  args: idOf('credential record'),
  flags: waitFlags('the issuer was notified'),
  questions: { id: whichRecord('credential', 'credential reject') },
  async run(context) {
    const { args, call } = context
    return changeRecord(context, 'credential', {
      until: 'ProblemReportSent',
      change: () =>
        call('POST /issue-credentials/records/{recordId}/reject-offer', {
          path: { recordId: args.id },
        }),
    })
  },
})
