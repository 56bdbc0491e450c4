/** `agent did resolve` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { safeJson } from '../_format/safe.ts'

export default class DidResolve extends AgentCommand {
  static override summary = 'Resolve any DID and print its document'
  static override description = 'did:prism, did:peer, did:key, did:jwk and did:web. With --json the whole resolution result is printed.'
  static override args = { did: Args.string({ required: true, ignoreStdin: true, description: 'a DID' }) }

  async run() {
    const { args } = await this.parse(DidResolve)
    const result = await this.call('GET /dids/{didRef}', { path: { didRef: args.did } })
    this.log(safeJson(result.didDocument))
    return result
  }
}
