import { defineCommand } from '../../cli/define-command.ts'
import { ledgerWaitFlags, runOperation } from '../../cli/did-operation.ts'
import { ownDidArgument } from '../../cli/input/arguments.ts'
import { actionFlags, readActions } from '../../cli/input/did.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Change a published DID: its keys, services and contexts',
  description:
    'All changes are one operation. Removals come first, then changes, additions and contexts, in any order of the flags. --actions keeps its own order.',
  // The usage that oclif derives from the flags is too long to read.
  usage: '<%= command.id %> DID [FLAGS]',
  examples: [
    'agent did update did:prism:… --remove-key issue-1 --add-key issue-2:assertionMethod --wait',
    'agent did update did:prism:… --add-service site,LinkedDomains,https://example.com',
    'agent did update did:prism:… --update-service site,,https://new.example.com',
    'agent did update did:prism:… --actions @actions.json',
  ],
  args: { did: ownDidArgument },
  flags: { ...actionFlags, ...ledgerWaitFlags() },
  questions: { did: whichDid('Which DID?') },
  async run(context) {
    const { args, flags, call } = context
    const actions = readActions(flags)
    return runOperation(context, 'update', () =>
      call('POST /did-registrar/dids/{didRef}/updates', { path: { didRef: args.did }, body: { actions } }),
    )
  },
})
