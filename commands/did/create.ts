/** `agent did create` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { shortForm } from '../_format/did.ts'

const curves = ['secp256k1', 'Ed25519', 'none'] as const

export default class DidCreate extends AgentCommand {
  static override summary = 'Create a did:prism with a key to authenticate and a key to issue'
  static override description =
    'secp256k1 keys come from the wallet’s seed, so that the seed restores them. Others see the DID once it is published.'
  static override examples = ['<%= config.bin %> did create', '<%= config.bin %> did create --assertion-curve none']
  static override flags = {
    'auth-curve': Flags.option({ description: 'curve of the authentication key', options: curves, default: 'secp256k1' as const })(),
    'assertion-curve': Flags.option({
      description: 'curve of the assertionMethod key, which signs credentials',
      options: curves,
      default: 'secp256k1' as const,
    })(),
  }

  async run() {
    const { flags } = await this.parse(DidCreate)
    const publicKeys = [
      ...key('auth-1', 'authentication', flags['auth-curve']),
      ...key('assertion-1', 'assertionMethod', flags['assertion-curve']),
    ]
    const { longFormDid } = await this.call('POST /did-registrar/dids', { body: { documentTemplate: { publicKeys } } })
    const did = shortForm(longFormDid)
    this.print(did, [
      ['did', did],
      ['long form', longFormDid],
      ['state', 'CREATED (not on the ledger)'],
    ])
    this.suggest(`agent did publish ${did}`)
    return { did, longFormDid }
  }
}

function key<Purpose extends string>(id: string, purpose: Purpose, curve: (typeof curves)[number]) {
  return curve === 'none' ? [] : [{ id, purpose, curve }]
}
