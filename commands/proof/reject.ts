import { defineCommand } from '../../cli/define-command.ts'
import { presentationFields } from '../../cli/format/proofs.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Decline a proof request (prover), or reject a presentation (verifier)',
  description: 'The other side is not notified, except the verifier of a request over OpenID4VP.',
  examples: ['agent proof reject <id>'],
  args: idOf('presentation record'),
  questions: {
    id: whichRecord('proof', 'proof reject'),
  },
  async run({ args, call, print }) {
    const path = { presentationId: args.id }
    // The API has one action per role.
    const { role } = await call('GET /present-proof/presentations/{presentationId}', { path })
    const action = role === 'Prover' ? 'request-reject' : 'presentation-reject'
    const record = await call('PATCH /present-proof/presentations/{presentationId}', {
      path,
      body: { action },
    })
    print(record.presentationId, presentationFields(record))
    return record
  },
})
