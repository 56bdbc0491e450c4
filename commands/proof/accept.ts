import { defineCommand } from '../../cli/define-command.ts'
import { presentationFields } from '../../cli/format/proofs.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Accept a verified presentation (verifier)',
  examples: ['agent proof accept <id>'],
  args: idOf('presentation record'),
  questions: { id: whichRecord('proof', 'proof accept') },
  async run({ args, call, print }) {
    const record = await call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId: args.id },
      body: { action: 'presentation-accept' },
    })
    print(record.presentationId, presentationFields(record))
    return record
  },
})
