import * as Flags from '@oclif/core/flags'
import type { Input } from '../../cli/client/api.ts'
import { defineCommand, type FlagValues } from '../../cli/define-command.ts'
import { ledgerWaitFlags, type OperationContext, runOperation } from '../../cli/did-operation.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { toReport } from '../../cli/errors/report.ts'
import { nextForDid, shownDid } from '../../cli/format/records.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { type Key, readKey, readService, unwrap } from '../../cli/input/did.ts'
import { readObject } from '../../cli/input/files.ts'
import { readTimeout } from '../../cli/input/time.ts'
import {
  canonicalDid,
  facts,
  fetchedMethods,
  keyCurves,
  keyMethods,
  ledgerMethods,
  managedMethods,
  namedMethods,
  namesOf,
  usualMethod,
  writtenMethods,
} from '../../src/definitions/did-names.ts'

const onLedger = namesOf(ledgerMethods)
const flagsOf = (methods: readonly string[]) => methods.map((method) => `--method ${method}`).join(' or ')

const curves = ['secp256k1', 'Ed25519', 'P-256', 'none'] as const

type Template = Input<'POST /did-registrar/dids'>['body']['documentTemplate']

const methodFlags = {
  method: Flags.option({
    description: 'method of the DID',
    options: managedMethods,
    default: usualMethod,
  })(),
  curve: Flags.option({
    description: `curve of a ${namesOf(keyMethods)}, which is one key; default: P-256`,
    options: keyCurves,
  })(),
  name: Flags.string({ description: `last part of a ${namesOf(namedMethods)}; default: random` }),
  label: Flags.string({
    description: 'your name for the DID, which commands take in its place; it is not sent',
  }),
}

const templateFlags = {
  'auth-curve': Flags.option({
    description: 'curve of the authentication key; default: secp256k1',
    options: curves,
  })(),
  'assertion-curve': Flags.option({
    description: 'curve of the assertionMethod key, which signs credentials; default: secp256k1',
    options: curves,
  })(),
  key: Flags.string({
    ...repeatable,
    exclusive: ['auth-curve', 'assertion-curve'],
    description:
      'a key that replaces the default keys: id:purpose, or id:purpose:curve; default curve: secp256k1',
  }),
  'internal-key': Flags.string({
    ...repeatable,
    description: 'id of a key for ledger entries (vdr), which is not in the document',
  }),
  service: Flags.string({
    ...repeatable,
    description: 'a service: id,type,endpoint, or a JSON object, inline or @file',
  }),
  context: Flags.string({ ...repeatable, description: 'a context of the document, by its URI' }),
  template: Flags.string({
    exclusive: ['auth-curve', 'assertion-curve', 'key', 'internal-key', 'service', 'context'],
    description:
      'the whole DID document, as the API’s documentTemplate: @file.json, @- for standard input, or inline',
  }),
}

export default defineCommand({
  summary: 'Create a DID, by default with an authentication key and an assertion key',
  description: `secp256k1 and P-256 keys are derived from the wallet’s seed; other keys are random. A ${onLedger} takes no P-256 keys. A ${onLedger} resolves once it is published; a ${namesOf(fetchedMethods)} resolves at once, because this agent serves its document, and a ${namesOf(keyMethods)}, because it contains its key.`,
  // The usage that oclif derives from the flags is too long to read.
  usage: '<%= command.id %> [FLAGS]',
  examples: [
    'agent did create',
    'agent did create --publish --wait',
    'agent did create --label "Acme signing" --publish --wait',
    'agent did create --auth-curve Ed25519 --assertion-curve none',
    'agent did create --key login:authentication:Ed25519 --key issue:assertionMethod --service site,LinkedDomains,https://example.com',
    'agent did create --method web --name acme',
    'agent did create --method jwk',
  ],
  flags: {
    ...methodFlags,
    ...templateFlags,
    publish: Flags.boolean({ description: 'publish the DID too' }),
    ...ledgerWaitFlags(['publish']),
  },
  async run(context) {
    const { flags, call, print, suggest } = context
    if (flags.wait) readTimeout(flags)
    const { method, name, label } = flags
    const isOnLedger = facts[method].kind === 'ledger'
    if (name !== undefined && !namedMethods.includes(method))
      throw new UsageError(`--name needs ${flagsOf(namedMethods)}.`)
    const { longFormDid } = await call('POST /did-registrar/dids', { body: toBody(flags) })
    const did = canonicalDid(longFormDid)
    if (flags.publish && isOnLedger) return { did, longFormDid, ...(await publish(context, did)) }
    const state = isOnLedger ? 'CREATED' : 'PUBLISHED'
    print(did, [
      ['did', did],
      ['label', label || undefined],
      ['long form', isOnLedger ? longFormDid : undefined],
      ['state', shownDid({ did, status: state })],
    ])
    suggest(nextForDid({ did, status: state }))
    return { did, longFormDid }
  },
})

/** Publishes the new DID. An error names the DID, which exists even so. */
async function publish(context: OperationContext, did: string) {
  try {
    return await runOperation(context, 'publication', () =>
      context.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } }),
    )
  } catch (error) {
    const { title, detail, exitCode } = toReport(error, 'did:create')
    const text = `${did} is created, but not yet published. ${detail ?? title}`
    throw new CommandError(text, exitCode, `agent did show ${did}`)
  }
}

/** The request of the flags. @throws {UsageError} for flags that the method does not have */
function toBody(
  flags: FlagValues<typeof methodFlags & typeof templateFlags>,
): Input<'POST /did-registrar/dids'>['body'] {
  const { method, name, curve, label } = flags
  const isKey = keyMethods.some((each) => each === method)
  if (curve !== undefined && !isKey) throw new UsageError(`--curve needs ${flagsOf(keyMethods)}.`)
  if (!isKey)
    return { documentTemplate: toTemplate(flags), label, ...(method !== usualMethod && { method, name }) }
  const names = Object.keys(templateFlags) as (keyof typeof templateFlags)[]
  const given = names.find((name) => flags[name] !== undefined)
  if (given !== undefined)
    throw new UsageError(`--${given} needs ${flagsOf(writtenMethods)}: a did:${method} is one key.`)
  return { method, curve, label, documentTemplate: {} }
}

function toTemplate(flags: FlagValues<typeof templateFlags>): Template {
  if (flags.template !== undefined)
    return unwrap(readObject('template', flags.template), 'documentTemplate') as Template
  const { key, service, context: contexts, 'internal-key': internalKeys } = flags
  return {
    publicKeys: key?.map((text) => readKey('key', text)) ?? [
      ...usual('auth-1', 'authentication', flags['auth-curve']),
      ...usual('assertion-1', 'assertionMethod', flags['assertion-curve']),
    ],
    ...(internalKeys && { internalKeys: internalKeys.map((id) => ({ id, purpose: 'vdr' as const })) }),
    ...(service && { services: service.map((text) => readService('service', text)) }),
    ...(contexts && { contexts }),
  }
}

function usual(id: string, purpose: Key['purpose'], curve: (typeof curves)[number] = 'secp256k1'): Key[] {
  return curve === 'none' ? [] : [{ id, purpose, curve }]
}
