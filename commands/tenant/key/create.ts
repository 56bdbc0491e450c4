import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../../cli/define-command.ts'
import { keyFields } from '../../../cli/format/administration.ts'
import { idOf, repeatable } from '../../../cli/input/arguments.ts'
import { keepKey, newKeyFlags } from '../../../cli/input/secrets.ts'
import { readSeconds } from '../../../cli/input/time.ts'

const allScopes = ['issuer', 'holder', 'verifier', 'read'] as const

export default defineCommand({
  summary: 'Create another API key for a tenant, or replace one',
  description:
    'The key is printed only now; the agent stores a digest. With --replaces, both keys work until --overlap has passed. Needs the administrator’s key.',
  examples: [
    'agent tenant key create <tenant id> --name backend',
    'agent tenant key create <tenant id> --name desk --scope verifier --expires-in 90d --key-file desk.key',
    'agent tenant key create <tenant id> --replaces <key id> --overlap 2d',
  ],
  args: idOf('tenant'),
  flags: {
    name: Flags.string({ description: 'name of the key, such as the program that uses it' }),
    scope: Flags.option({
      options: allScopes,
      ...repeatable,
      description: 'permitted use of the key; repeat it for several; default: everything',
    })(),
    'expires-in': Flags.string({ description: 'lifetime of the key: 12h, 90d; default: unlimited' }),
    replaces: Flags.string({
      description: 'id of the key to replace; the new key gets its name and scopes',
    }),
    overlap: Flags.string({
      dependsOn: ['replaces'],
      description: 'how long the replaced key still works: 12h, 2d; default: 1d',
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
