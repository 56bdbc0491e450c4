/** `agent did publish` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { shortForm } from '../_format/did.ts'

export default class DidPublish extends AgentCommand {
  static override summary = 'Publish a DID of the wallet on the ledger'
  static override args = {
    did: Args.string({ required: true, ignoreStdin: true, description: 'a did:prism of this wallet, short or long form' }),
  }

  async run() {
    const { args } = await this.parse(DidPublish)
    const published = await this.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: args.did } })
    const { id, didRef } = published.scheduledOperation
    this.print(didRef, [
      ['did', didRef],
      ['operation', id],
    ])
    this.suggest(`agent did show ${shortForm(didRef)}`)
    return published
  }
}
