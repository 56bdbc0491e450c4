import { defineCommand } from '../../cli/define-command.ts'
import { didFields, nextForDid } from '../../cli/format/records.ts'
import { ownDidArgument } from '../../cli/input/arguments.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Show a DID of the wallet and its pending operation',
  examples: ['agent did show did:prism:…'],
  args: { did: ownDidArgument },
  questions: { did: whichDid('Which DID?') },
  async run({ args, call, print, suggest }) {
    const shown = await call('GET /did-registrar/dids/{didRef}', { path: { didRef: args.did } })
    print(shown.did, didFields(shown))
    suggest(nextForDid(shown))
    return shown
  },
})
