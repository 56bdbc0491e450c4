/** `agent proof request` */
import { randomUUID } from 'node:crypto'
import * as Flags from '@oclif/core/flags'
import { presentationFields } from '../_format/records.ts'
import { schemaUrl } from '../_input/schema.ts'
import { invitationFlags, InvitingCommand } from '../_inviting.ts'

export default class ProofRequest extends InvitingCommand {
  static override summary = 'Ask for a proof, over a connection or by an invitation (verifier)'
  static override description = 'With --invitation, prints the invitation’s URL: whoever answers first proves, and no connection is made.'
  static override examples = [
    '<%= config.bin %> proof request --connection <id>',
    '<%= config.bin %> proof request --connection <id> --schema <guid> --trust-issuer did:prism:… --domain shop.example',
    '<%= config.bin %> proof request --invitation --goal "Are you over 18?"',
  ]
  static override flags = {
    connection: Flags.string({ exactlyOne: ['connection', 'invitation'], description: 'id of the connection to the prover' }),
    invitation: Flags.boolean({ description: 'make an invitation instead; it can be answered once' }),
    schema: Flags.string({ description: 'schema of the credential that is asked for: its guid here, or a URL; any when left out' }),
    'trust-issuer': Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['schema'],
      description: 'issuer whose credentials are accepted; any when left out',
    }),
    challenge: Flags.string({ dependsOn: ['domain'], description: 'what the prover signs against replay; random when left out' }),
    domain: Flags.string({ description: 'whom the presentation is for' }),
    ...invitationFlags(['invitation']),
  }

  async run() {
    const { flags } = await this.parse(ProofRequest)
    const { connection: connectionId, schema, domain, challenge = randomUUID(), goal } = flags
    const trustIssuers = flags['trust-issuer']
    const wanted = {
      proofs: schema === undefined ? [] : [{ schemaId: schemaUrl(schema, this.access.url), trustIssuers }],
      ...(domain !== undefined && { options: { challenge, domain } }),
    }
    const record =
      connectionId === undefined
        ? await this.call('POST /present-proof/presentations/invitation', { body: { ...wanted, goal, goalCode: flags['goal-code'] } })
        : await this.call('POST /present-proof/presentations', { body: { ...wanted, connectionId } })
    if (record.invitation) this.printInvitation(record.presentationId, record.invitation.invitationUrl, flags.qr)
    else this.print(record.presentationId, presentationFields(record))
    this.suggest(`agent proof show ${record.presentationId}`)
    return record
  }
}
