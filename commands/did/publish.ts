import { defineCommand } from '../../cli/define-command.ts'
import { ledgerWaitFlags, runOperation } from '../../cli/did-operation.ts'
import { ownDidArgument } from '../../cli/input/arguments.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Publish a DID of the wallet on the ledger',
  description: 'With --wait, waits until the DID resolves. Publishing a published DID has no effect.',
  examples: ['agent did publish did:prism:…', 'agent did publish did:prism:… --wait --timeout 30m'],
  args: { did: ownDidArgument },
  flags: ledgerWaitFlags(),
  questions: { did: whichDid('Which DID?') },
  async run(context) {
    const { args, call } = context
    return runOperation(context, 'publication', () =>
      call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: args.did } }),
    )
  },
})
