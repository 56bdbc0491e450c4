/** `agent tenant key create` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../../cli/define-command.ts'
import { keyFields } from '../../../cli/format/administration.ts'
import { argument } from '../../../cli/input/arguments.ts'
import { keepKey, newKeyFlags } from '../../../cli/input/secrets.ts'
import { readSeconds } from '../../../cli/input/time.ts'

const allScopes = ['issuer', 'holder', 'verifier', 'read'] as const

export default defineCommand({
  summary: 'Give a tenant another key, beside those it has or in the place of one',
  description:
    'The key is shown this once; the agent keeps a digest of it. With --replaces, both keys let in for a while, so that programs can be given the new one. Needs the administrator’s key.',
  examples: [
    'agent tenant key create <tenant id> --name backend',
    'agent tenant key create <tenant id> --name desk --scope verifier --expires-in 90d --key-file desk.key',
    'agent tenant key create <tenant id> --replaces <key id> --overlap 2d',
  ],
  args: {
    id: argument('id of the tenant'),
  },
  flags: {
    name: Flags.string({ description: 'what the key is called, such as the program that has it' }),
    scope: Flags.option({
      options: allScopes,
      multiple: true,
      multipleNonGreedy: true,
      description: 'what the key may be used for, once for each; everything when left out',
    })(),
    'expires-in': Flags.string({ description: 'how long the key lets in: 12h, 90d; for good when left out' }),
    replaces: Flags.string({
      description: 'id of the key that it stands in for, whose name and scopes it takes over',
    }),
    overlap: Flags.string({
      dependsOn: ['replaces'],
      description: 'how long the replaced key lets in still: 12h, 2d; 1d when left out',
    }),
    ...newKeyFlags,
  },
  async run({ args, flags, call, print, suggest }) {
    const { name, scope: scopes, replaces, overlap = '1d', 'key-file': file } = flags
    const inFuture = (flag: string, text: string) =>
      new Date(Date.now() + readSeconds(flag, text) * 1_000).toISOString()
    const body = {
      ...(name !== undefined && { name }),
      ...(scopes && { scopes }),
      ...(flags['expires-in'] !== undefined && { expiresAt: inFuture('expires-in', flags['expires-in']) }),
      ...(replaces !== undefined && { replaces: { id: replaces, until: inFuture('overlap', overlap) } }),
    }
    const made = await keepKey(file, () =>
      call('POST /iam/entities/{id}/api-keys', { path: { id: args.id }, body }),
    )
    const { apiKey, ...key } = made
    print(file === undefined ? apiKey : key.id, [
      ...keyFields(key),
      file === undefined ? ['api key', apiKey] : ['key file', file],
    ])
    suggest(
      file === undefined
        ? 'export AGENT_API_KEY=<api key>   # it is not shown again'
        : `agent connection list --api-key-file ${file}`,
    )
    return { ...key, ...(file === undefined ? { apiKey } : { apiKeyFile: file }) }
  },
})
