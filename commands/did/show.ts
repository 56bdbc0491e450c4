/** `agent did show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'

export default class DidShow extends AgentCommand {
  static override summary = 'Show a DID of the wallet'
  static override args = {
    did: Args.string({ required: true, ignoreStdin: true, description: 'a did:prism of this wallet, short or long form' }),
  }

  async run() {
    const { args } = await this.parse(DidShow)
    const shown = await this.call('GET /did-registrar/dids/{didRef}', { path: { didRef: args.did } })
    this.print(shown.did, [
      ['did', shown.did],
      ['long form', shown.longFormDid],
      ['state', shown.status],
    ])
    if (shown.status === 'CREATED') this.suggest(`agent did publish ${shown.did}`)
    return shown
  }
}
