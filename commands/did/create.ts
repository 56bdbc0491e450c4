/** `agent did create` */
import * as Flags from '@oclif/core/flags'
import type { Input } from '../../cli/client/api.ts'
import { toReport } from '../../cli/errors/report.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { shownDid, nextForDid, shortForm } from '../../cli/format/did.ts'
import { readKey, readService, unwrap, type Key } from '../../cli/input/did.ts'
import { readObject } from '../../cli/input/files.ts'
import { kinds, OperatingCommand, waitFlags } from '../../cli/operating.ts'

const curves = ['secp256k1', 'Ed25519', 'none'] as const
const many = { multiple: true, multipleNonGreedy: true } as const

type Template = Input<'POST /did-registrar/dids'>['body']['documentTemplate']

export default class DidCreate extends OperatingCommand {
  static override summary =
    'Create a DID, with a key to authenticate and a key to issue unless said otherwise'
  // Made of the flags it would be long, and hard to read.
  static override usage = '<%= command.id %> [FLAGS]'
  static override description =
    'secp256k1 keys come from the wallet’s seed, so that the seed restores them; others are random. Others see a did:prism once it is published; a did:web they see at once, since this agent serves its document.'
  static override examples = [
    '<%= config.bin %> did create',
    '<%= config.bin %> did create --publish --wait',
    '<%= config.bin %> did create --auth-curve Ed25519 --assertion-curve none',
    '<%= config.bin %> did create --key login:authentication:Ed25519 --key issue:assertionMethod --service site,LinkedDomains,https://example.com',
    '<%= config.bin %> did create --method web --name acme',
  ]
  static override flags = {
    method: Flags.option({
      description: 'method of the DID',
      options: ['prism', 'web'] as const,
      default: 'prism' as const,
    })(),
    name: Flags.string({ description: 'last part of a did:web; random when left out' }),
    'auth-curve': Flags.option({
      description: 'curve of the authentication key',
      options: curves,
      default: 'secp256k1' as const,
    })(),
    'assertion-curve': Flags.option({
      description: 'curve of the assertionMethod key, which signs credentials',
      options: curves,
      default: 'secp256k1' as const,
    })(),
    key: Flags.string({
      ...many,
      exclusive: ['auth-curve', 'assertion-curve'],
      description:
        'a key, in the place of those two: id:purpose, or id:purpose:curve; on secp256k1 unless said',
    }),
    'internal-key': Flags.string({
      ...many,
      description: 'id of a key that is not in the document, for entries on the ledger (vdr)',
    }),
    service: Flags.string({
      ...many,
      description: 'a service: id,type,endpoint, or a JSON object, written out or @file',
    }),
    context: Flags.string({ ...many, description: 'a context of the document, by its URI' }),
    template: Flags.string({
      exclusive: ['auth-curve', 'assertion-curve', 'key', 'internal-key', 'service', 'context'],
      description:
        'all of it, as the API’s documentTemplate: @file.json, @- for standard input, or written out',
    }),
    publish: Flags.boolean({ description: 'publish it too' }),
    ...waitFlags(['publish']),
  }

  async run() {
    const { flags } = await this.parse(DidCreate)
    const seconds = this.patience(flags)
    const { method, name } = flags
    const isWeb = method === 'web'
    if (name !== undefined && !isWeb) throw new UsageError('--name is for a did:web: give --method web too.')
    const body = { documentTemplate: toTemplate(flags), ...(isWeb && { method, name }) }
    const { longFormDid } = await this.call('POST /did-registrar/dids', { body })
    const did = shortForm(longFormDid)
    if (flags.publish && !isWeb) return { did, longFormDid, ...(await this.publish(did, seconds)) }
    const state = isWeb ? 'PUBLISHED' : 'CREATED'
    this.print(did, [
      ['did', did],
      ['long form', isWeb ? undefined : longFormDid],
      ['state', shownDid({ did, status: state })],
    ])
    this.suggest(nextForDid({ did, status: state }))
    return { did, longFormDid }
  }

  /** Publishes what is made; where that fails, the DID is there, and must not be lost. */
  private async publish(did: string, seconds: number | undefined) {
    try {
      const published = await this.call('POST /did-registrar/dids/{didRef}/publications', {
        path: { didRef: did },
      })
      return await this.follow(published, kinds.publication, seconds)
    } catch (error) {
      const { title, detail, exitCode } = toReport(error, this.id!)
      throw new CommandError(
        `${did} is made, and not published yet. ${detail ?? title}`,
        exitCode,
        `agent did show ${did}`,
      )
    }
  }
}

type Given = {
  'auth-curve': (typeof curves)[number]
  'assertion-curve': (typeof curves)[number]
  key?: string[] | undefined
  'internal-key'?: string[] | undefined
  service?: string[] | undefined
  context?: string[] | undefined
  template?: string | undefined
}

function toTemplate(flags: Given): Template {
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

function usual(id: string, purpose: Key['purpose'], curve: (typeof curves)[number]): Key[] {
  return curve === 'none' ? [] : [{ id, purpose, curve }]
}
