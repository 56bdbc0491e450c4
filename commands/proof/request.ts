/** `agent proof request` */
import { randomUUID } from 'node:crypto'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { presentationFields } from '../_format/records.ts'
import { schemaUrl } from '../_input/schema.ts'

export default class ProofRequest extends AgentCommand {
  static override summary = 'Ask for a proof over a connection (verifier)'
  static override examples = [
    '<%= config.bin %> proof request --connection <id>',
    '<%= config.bin %> proof request --connection <id> --schema <guid> --trust-issuer did:prism:… --domain shop.example',
  ]
  static override flags = {
    connection: Flags.string({ required: true, description: 'id of the connection to the prover' }),
    schema: Flags.string({ description: 'schema of the credential that is asked for: its guid here, or a URL; any when left out' }),
    'trust-issuer': Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['schema'],
      description: 'issuer whose credentials are accepted; any when left out',
    }),
    challenge: Flags.string({ dependsOn: ['domain'], description: 'what the prover signs against replay; random when left out' }),
    domain: Flags.string({ description: 'whom the presentation is for' }),
  }

  async run() {
    const { flags } = await this.parse(ProofRequest)
    const { schema, domain, challenge = randomUUID() } = flags
    const trustIssuers = flags['trust-issuer']
    const record = await this.call('POST /present-proof/presentations', {
      body: {
        connectionId: flags.connection,
        proofs: schema === undefined ? [] : [{ schemaId: schemaUrl(schema, this.access.url), trustIssuers }],
        ...(domain !== undefined && { options: { challenge, domain } }),
      },
    })
    this.print(record.presentationId, presentationFields(record))
    this.suggest(`agent proof show ${record.presentationId}`)
    return record
  }
}
