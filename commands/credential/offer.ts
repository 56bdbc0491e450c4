/** `agent credential offer` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { credentialFields } from '../_format/records.ts'
import { readClaims } from '../_input/claims.ts'
import { readSeconds } from '../_input/duration.ts'
import { schemaUrl } from '../_input/schema.ts'

export default class CredentialOffer extends AgentCommand {
  static override summary = 'Offer a credential over a connection (issuer)'
  static override examples = [
    '<%= config.bin %> credential offer --connection <id> --issuing-did <did> --claim name=Alice --claim age:=42',
    '<%= config.bin %> credential offer --connection <id> --issuing-did <did> --claims @claims.json --schema <guid> --validity 365d',
  ]
  static override flags = {
    connection: Flags.string({ required: true, description: 'id of the connection to the holder' }),
    'issuing-did': Flags.string({ required: true, description: 'the issuer’s DID, with an assertionMethod key' }),
    claim: Flags.string({ multiple: true, multipleNonGreedy: true, description: 'a claim: name=text, or name:=json' }),
    claims: Flags.string({ description: 'all claims as a JSON object: @file.json, @- for standard input, or written out' }),
    schema: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      description: 'schema that the claims must fit: its guid here, or a URL',
    }),
    validity: Flags.string({ description: 'how long it is valid: 3600, 90m, 12h, 365d' }),
    auto: Flags.boolean({ description: 'issue as soon as the holder accepts' }),
  }

  async run() {
    const { flags } = await this.parse(CredentialOffer)
    const { schema, validity, auto } = flags
    const record = await this.call('POST /issue-credentials/credential-offers', {
      body: {
        connectionId: flags.connection,
        issuingDID: flags['issuing-did'],
        claims: readClaims(flags),
        automaticIssuance: auto,
        ...(schema && { schemaId: schema.map((each) => schemaUrl(each, this.access.url)) }),
        ...(validity !== undefined && { validityPeriod: readSeconds('validity', validity) }),
      },
    })
    this.print(record.recordId, credentialFields(record))
    this.suggest(`agent credential show ${record.recordId}`)
    return record
  }
}
