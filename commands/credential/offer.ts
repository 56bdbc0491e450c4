import * as Flags from '@oclif/core/flags'
import { optionalValue } from '../../cli/argv.ts'
import type { Bulk, Summary } from '../../cli/bulk/offers.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { findIssuers, severalDids } from '../../cli/client/subjects.ts'
import { safeLine } from '../../cli/format/text.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { claimFlags, expectFlag, readClaims, readExpected, readGivenClaims } from '../../cli/input/claims.ts'
import { type FormatFlag, formatFlag, toFormat, toOpenIdFormat } from '../../cli/input/credential.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { expiresInFlag, noteUnits, readExpiresIn, readSeconds } from '../../cli/input/time.ts'
import { offerToWallet, whichConfiguration, whichSigner } from '../../cli/oid4vci-offer.ts'
import { whichClaims } from '../../cli/prompts/claims.ts'
import { toWhomOrWallet } from '../../cli/prompts/questions.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import { qrFlags } from '../../cli/qr/flags.ts'
import { naming, publishTemplate, templateFlag } from '../../cli/templates.ts'
import { createRecord, waitFlags } from '../../cli/wait.ts'

/** A flag about the invitation, or about those of `--csv`. */
const ofInvitations = { relationships: [{ type: 'some' as const, flags: ['invitation', 'csv'] }] }
const ofLinks = { relationships: [{ type: 'some' as const, flags: ['invitation', 'oid4vci', 'csv'] }] }

export default defineCommand({
  summary: 'Offer a credential, over a connection, by an invitation, or to a wallet of OpenID4VCI (issuer)',
  description:
    'With --invitation, prints the URL of an invitation that can be answered once, without a connection. With --oid4vci, prints the URL of an offer that a wallet of OpenID4VCI can redeem once; it gets the credential at once, or with --defer after `agent credential issue`. The only issuer, credential and DID are taken, and made if there are none.',
  examples: [
    'agent credential offer --oid4vci --claim name=Alice',
    'agent credential offer --oid4vci --template membership --claims @member.json',
    'agent credential offer --oid4vci --type Person --claim name=Alice --claim age:=42',
    'agent credential offer --connection <id> --issuing-did <did> --claim name=Alice --claim age:=42',
    'agent credential offer --connection <id> --issuing-did <did> --claims @claims.json --schema <guid> --validity 365d',
    'agent credential offer --connection <id> --issuing-did <did> --claims @claims.json --format sdjwt',
    'agent credential offer --connection <id> --definition <guid> --claim name=Alice --claim age=30',
    'agent credential offer --csv people.csv --issuing-did <did> --auto --expires-in 14d',
    'agent credential offer --invitation --goal "Your diploma" --issuing-did <did> --claim name=Alice --auto',
    'agent credential offer --oid4vci <issuer id> --configuration Person --issuing-did <did> --claim name=Alice --tx-code',
    'agent credential offer --oid4vci --type Person --claim name=Alice --deliver mailto:alice@example.org --code-to sms:+4915112345678',
    'agent credential offer --oid4vci --configuration Person --configuration Licence --claims @alice.json',
    'agent credential offer --oid4vci <issuer id> --configuration Employee --issuing-did <did> --expect email=alice@example.org',
  ],
  flags: {
    connection: Flags.string({
      exactlyOne: ['connection', 'invitation', 'oid4vci', 'csv'],
      description: 'connection to the holder: its id, the end of the id, or its label',
    }),
    invitation: Flags.boolean({ description: 'create an invitation instead; it can be answered once' }),
    oid4vci: Flags.string({
      exclusive: ['definition', 'schema', 'auto', 'open'],
      ...optionalValue('issuer id', /^[\da-f-]{4,36}$/i),
      description:
        'offer to a wallet of OpenID4VCI, without DIDComm; without an id by the only issuer, which is made if there is none',
    }),
    configuration: Flags.string({
      ...repeatable,
      dependsOn: ['oid4vci'],
      exclusive: ['type'],
      description:
        'id of the issuer’s credential configuration; default: the only one; given more than once, one offer has all, with --claims for each',
    }),
    type: Flags.string({
      dependsOn: ['oid4vci'],
      description:
        'id, name or vct of the credential that the issuer offers; if there is none such, it is made with a schema of the claims',
    }),
    template: templateFlag({ exclusive: ['schema', 'definition', 'configuration'] }),
    grant: Flags.string({
      dependsOn: ['oid4vci'],
      options: ['pre-authorized_code', 'authorization_code'],
      description:
        'how the wallet gets access: by a code in the offer, or after the holder’s consent at the authorization server; default: authorization_code for an issuer with an external one or with a log-in, and after a presentation',
    }),
    'tx-code': Flags.boolean({
      dependsOn: ['oid4vci'],
      description: 'require a transaction code, which is printed; give it to the holder on another channel',
    }),
    expect: expectFlag,
    deliver: Flags.string({
      dependsOn: ['oid4vci'],
      exclusive: ['qr', 'qr-file', 'long', 'open'],
      description:
        'have webhooks with --deliver send the link to this address: mailto:alice@example.org or sms:+4915112345678',
    }),
    'code-to': Flags.string({
      dependsOn: ['deliver'],
      description: 'have them send a transaction code to this other address',
    }),
    locale: Flags.string({
      dependsOn: ['deliver'],
      description: 'language of the messages: en, de, or one of the issuer’s texts; default: en',
    }),
    defer: Flags.boolean({
      dependsOn: ['oid4vci'],
      description: 'issue after `agent credential issue`; the wallet waits until then',
    }),
    csv: Flags.string({
      exclusive: ['wait', 'qr', 'qr-file', 'long', 'open'],
      description:
        'make an offer for each row of a CSV file: its columns are claims (name:, with a colon, for JSON), and connection, the id or label of a connection; without that column each row gets an invitation',
    }),
    report: Flags.string({
      dependsOn: ['csv'],
      description: 'file of the results, with which a repeated command resumes; default: <csv>.report.jsonl',
    }),
    'issuing-did': Flags.string({
      exclusive: ['definition'],
      description:
        'the issuer’s DID, with an assertionMethod key; not for a configuration with an issuer certificate; default: the only one',
    }),
    definition: Flags.string({
      description: 'guid of a credential definition of the wallet: issue an AnonCreds credential',
    }),
    ...claimFlags,
    schema: Flags.string({
      ...repeatable,
      description: 'schema of the claims: its guid on this agent, or a URL',
    }),
    validity: Flags.string({ description: 'validity period: 90m, 12h, 365d; a bare number is in seconds' }),
    format: formatFlag('sdjwt lets the holder choose claims to disclose, anoncreds needs --definition'),
    auto: Flags.boolean({ description: 'issue as soon as the holder accepts' }),
    ...qrFlags(['invitation', 'oid4vci']),
    goal: Flags.string({ ...ofInvitations, description: 'purpose, in words that the other side sees' }),
    'goal-code': Flags.string({ ...ofInvitations, description: 'purpose, as a code such as issue-vc' }),
    'expires-in': expiresInFlag(ofLinks, ', with --csv 7d'),
    ...waitFlags('the holder has accepted, or, with --auto, the credential is issued'),
  },
  questions: {
    connection: { ...toWhomOrWallet('--oid4vci='), unless: ['invitation', 'oid4vci', 'csv'] },
    configuration: whichConfiguration,
    'issuing-did': whichSigner,
    claim: { ...whichClaims, unless: ['claims', 'csv', 'expect'] },
  },
  async run(context) {
    const { flags, call, getAccess } = context
    const { connection: connectionId, oid4vci, csv, schema, validity, auto, goal } = flags
    const format = readFormat(flags)
    const expiresIn = readExpiresIn(flags['expires-in'])
    const validityPeriod = validity === undefined ? undefined : readSeconds('validity', validity)
    noteUnits(context, { 'expires-in': flags['expires-in'], validity })
    if (oid4vci !== undefined)
      return offerToWallet(context, {
        issuerId: oid4vci || undefined,
        configurations: flags.configuration ?? [],
        type: flags.type,
        template: flags.template,
        format: format === undefined ? undefined : toOpenIdFormat(format),
        issuingDID: flags['issuing-did'],
        // A configuration with a claims source needs none.
        claims: flags.configuration || flags.expect ? readGivenClaims(flags) : readClaims(flags),
        grant: flags.grant as 'pre-authorized_code' | 'authorization_code' | undefined,
        txCode: flags['tx-code'],
        expectedIdentity: readExpected(flags.expect),
        deliver:
          flags.deliver === undefined
            ? undefined
            : { to: flags.deliver, code: flags['code-to'], locale: flags.locale },
        automaticIssuance: !flags.defer,
        expiresIn,
        ...(validityPeriod !== undefined && { validityPeriod }),
      })
    const { template } = flags
    const author =
      flags.definition === undefined ? (flags['issuing-did'] ?? (await onlyIssuer(context))) : undefined
    const schemas =
      template !== undefined && author !== undefined
        ? [await publishTemplate(context, template, author)]
        : schema?.map((each) => schemaUrl(each, getAccess().url))
    const terms = {
      issuingDID: author,
      credentialDefinitionId: flags.definition,
      automaticIssuance: auto,
      ...toFormat(format),
      ...(schemas && { schemaId: schemas }),
      ...(validityPeriod !== undefined && { validityPeriod }),
    }
    if (csv !== undefined) return offerMany(context, { ...flags, csv }, terms, expiresIn)
    const offered = { ...terms, claims: readClaims(flags) }
    return createRecord(context, 'credential', auto ? 'CredentialSent' : 'RequestReceived', () =>
      naming(template, () =>
        connectionId === undefined
          ? call('POST /issue-credentials/credential-offers/invitation', {
              body: { ...offered, goal, goalCode: flags['goal-code'], expiresIn },
            })
          : call('POST /issue-credentials/credential-offers', { body: { ...offered, connectionId } }),
      ),
    )
  },
})

/** @throws {UsageError} unless exactly one DID of the wallet can issue */
async function onlyIssuer({ call, say, isQuiet }: Context): Promise<string> {
  const [only, ...more] = await findIssuers(call)
  if (!only)
    throw new UsageError(
      'No DID of this wallet can issue: it needs a published one with an assertionMethod key. Or give --definition, for an AnonCreds credential.',
      'agent did create --publish --wait',
    )
  if (more.length > 0) throw severalDids([only, ...more], '--issuing-did', ' that can issue')
  const { did, label } = only
  const name = label === undefined ? canonicalDid(did) : `${safeLine(label)} (${canonicalDid(did)})`
  if (!isQuiet) say(`Issued by the only DID that can: ${name}`)
  return did
}

type BulkFlags = {
  csv: string
  report?: string | undefined
  claim?: string[] | undefined
  claims?: string | undefined
  goal?: string | undefined
  'goal-code'?: string | undefined
}

/** Offers a credential to each row of a CSV file, and prints the counts. */
async function offerMany(
  context: Context,
  flags: BulkFlags,
  offered: Bulk['offered'],
  expiresIn: number | undefined,
): Promise<Summary> {
  const { csv, report, goal, 'goal-code': goalCode } = flags
  const { offerAll } = await import('../../cli/bulk/offers.ts')
  const claims = flags.claim || flags.claims !== undefined ? readClaims(flags) : {}
  const summary = await offerAll(context, { csv, report, offered, claims, goal, goalCode, expiresIn })
  context.print(summary.report, [
    ['rows', summary.rows],
    ['offered', summary.offered],
    ['offered before', summary.before || undefined],
    ['report', summary.report],
  ])
  return summary
}

/** @throws {UsageError} when --format and --definition contradict each other. */
function readFormat({
  format,
  definition,
}: {
  format?: FormatFlag | undefined
  definition?: string | undefined
}) {
  if (format === 'anoncreds' && definition === undefined)
    throw new UsageError(
      '--format anoncreds needs --definition: the guid of a credential definition of this wallet.',
      'agent creddef list',
    )
  if (definition !== undefined && format !== undefined && format !== 'anoncreds')
    throw new UsageError(`--definition issues AnonCreds, not ${format}. Omit --format.`)
  return definition === undefined ? format : 'anoncreds'
}
