/** `agent did show` */
import { AgentCommand } from '../../cli/base-command.ts'
import { shownDid, nextForDid } from '../../cli/format/did.ts'
import { ownDidArg } from '../../cli/input/did.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default class DidShow extends AgentCommand {
  static override summary = 'Show a DID of the wallet, and what it waits for'
  static override examples = ['<%= config.bin %> did show did:prism:…']
  static override args = { did: ownDidArg }

  protected override readonly questions = { did: whichDid('Which DID?') }

  async run() {
    const { args } = await this.parse(DidShow)
    const shown = await this.call('GET /did-registrar/dids/{didRef}', { path: { didRef: args.did } })
    this.print(shown.did, [
      ['did', shown.did],
      ['long form', shown.longFormDid],
      ['state', shownDid(shown)],
      ['operation', shown.pendingOperation],
      [shown.pendingOperation === undefined ? 'last failure' : 'delayed by', shown.metaLastFailure?.detail],
    ])
    this.suggest(nextForDid(shown))
    return shown
  }
}
