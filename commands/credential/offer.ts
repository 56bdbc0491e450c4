/** `agent credential offer` */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../../cli/errors/errors.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { readClaims } from '../../cli/input/claims.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { formatFlag, toFormat, type formats } from '../../cli/input/credential.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { invitationFlags, InvitingCommand } from '../../cli/inviting.ts'
import { toWhom, whichClaims, whichDid } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class CredentialOffer extends InvitingCommand {
  static override summary = 'Offer a credential, over a connection or by an invitation (issuer)'
  static override description =
    'With --invitation, prints the invitation’s URL: whoever answers first gets the credential, and no connection is made.'
  static override examples = [
    '<%= config.bin %> credential offer --connection <id> --issuing-did <did> --claim name=Alice --claim age:=42',
    '<%= config.bin %> credential offer --connection <id> --issuing-did <did> --claims @claims.json --schema <guid> --validity 365d',
    '<%= config.bin %> credential offer --connection <id> --issuing-did <did> --claims @claims.json --format sdjwt',
    '<%= config.bin %> credential offer --connection <id> --definition <guid> --claim name=Alice --claim age=30',
    '<%= config.bin %> credential offer --invitation --goal "Your diploma" --issuing-did <did> --claim name=Alice --auto',
  ]
  static override flags = {
    connection: Flags.string({
      exactlyOne: ['connection', 'invitation'],
      description: 'connection to the holder: its id, the end of the id, or its label',
    }),
    invitation: Flags.boolean({ description: 'make an invitation instead; it can be answered once' }),
    'issuing-did': Flags.string({
      exactlyOne: ['issuing-did', 'definition'],
      description: 'the issuer’s DID, with an assertionMethod key',
    }),
    definition: Flags.string({
      description:
        'issue AnonCreds by this credential definition of the wallet, named by its guid: it says whose they are',
    }),
    claim: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      description: 'a claim: name=text, or name:=json',
    }),
    claims: Flags.string({
      description: 'all claims as a JSON object: @file.json, @- for standard input, or written out',
    }),
    schema: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      description: 'schema that the claims must fit: its guid here, or a URL',
    }),
    validity: Flags.string({ description: 'how long it is valid: 3600, 90m, 12h, 365d' }),
    format: formatFlag(
      'the holder of an sdjwt shows claims of its choice; anoncreds are what --definition issues',
    ),
    auto: Flags.boolean({ description: 'issue as soon as the holder accepts' }),
    ...invitationFlags(['invitation']),
    ...waitFlags('the holder has accepted, or, with --auto, the credential is issued'),
  }

  protected override readonly questions = {
    connection: toWhom,
    'issuing-did': { ...whichDid('Which DID issues it?', 'issuing-did'), unless: ['definition'] },
    claim: whichClaims,
  }

  async run() {
    const { flags } = await this.parse(CredentialOffer)
    const { connection: connectionId, schema, validity, auto, goal } = flags
    const format = readFormat(flags)
    const offered = {
      issuingDID: flags['issuing-did'],
      credentialDefinitionId: flags.definition,
      claims: readClaims(flags),
      automaticIssuance: auto,
      ...toFormat(format),
      ...(schema && { schemaId: schema.map((each) => schemaUrl(each, this.access.url)) }),
      ...(validity !== undefined && { validityPeriod: readSeconds('validity', validity) }),
    }
    const show = this.inviting(flags)
    const settled = await this.waiting('credential', flags, auto ? 'CredentialSent' : 'RequestReceived')
    const made =
      connectionId === undefined
        ? await this.call('POST /issue-credentials/credential-offers/invitation', {
            body: { ...offered, goal, goalCode: flags['goal-code'] },
          })
        : await this.call('POST /issue-credentials/credential-offers', { body: { ...offered, connectionId } })
    await show(made.recordId, made)
    return settled(made, (record) => {
      const { recordId: id, protocolState } = record
      if (!made.invitation || (flags.wait !== undefined && !this.isQuiet))
        this.print(id, credentialFields(record))
      this.suggest(nextCommand('credential', protocolState, id) ?? `agent credential show ${id}`)
    })
  }
}

/** @throws {UsageError} when what issues it is not of the format. */
function readFormat({
  format,
  definition,
}: {
  format?: keyof typeof formats | undefined
  definition?: string | undefined
}) {
  if (format === 'anoncreds' && definition === undefined)
    throw new UsageError(
      '--format anoncreds needs --definition: the guid of a credential definition of this wallet.',
      'agent creddef list',
    )
  if (definition !== undefined && format !== undefined && format !== 'anoncreds')
    throw new UsageError(`--definition issues AnonCreds, not ${format}. Leave --format out.`)
  return definition === undefined ? format : 'anoncreds'
}
