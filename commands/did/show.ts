import { defineCommand } from '../../cli/define-command.ts'
import { nextForDid, shownDid } from '../../cli/format/records.ts'
import { ownDidArgument } from '../../cli/input/arguments.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Show a DID of the wallet and its pending operation',
  examples: ['agent did show did:prism:…'],
  args: { did: ownDidArgument },
  questions: { did: whichDid('Which DID?') },
  async run({ args, call, print, suggest }) {
    const shown = await call('GET /did-registrar/dids/{didRef}', { path: { didRef: args.did } })
    print(shown.did, [
      ['did', shown.did],
      ['long form', shown.longFormDid],
      ['state', shownDid(shown)],
      ['operation', shown.pendingOperation],
      [shown.pendingOperation === undefined ? 'last failure' : 'delayed by', shown.metaLastFailure?.detail],
    ])
    suggest(nextForDid(shown))
    return shown
  },
})
