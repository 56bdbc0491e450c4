import { defineCommand } from '../../cli/define-command.ts'
import { ledgerWaitFlags, runOperation } from '../../cli/did-operation.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import { ownDidArgument, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Deactivate a published DID permanently',
  description:
    'The DID no longer resolves, so credentials that it issued no longer verify. Asks for confirmation; in scripts use --yes.',
  examples: ['agent did deactivate did:prism:…', 'agent did deactivate did:prism:… --yes --wait'],
  args: { did: ownDidArgument },
  flags: {
    yes: yesFlag,
    ...ledgerWaitFlags(),
  },
  questions: { did: whichDid('Which DID?') },
  async run(context) {
    const { args, flags, call } = context
    if (!flags.yes) await confirm(`Deactivate ${canonicalDid(args.did)}? This cannot be undone.`)
    return runOperation(context, 'deactivation', () =>
      call('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef: args.did } }),
    )
  },
})
