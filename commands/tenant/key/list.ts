/** `agent tenant key list` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../../cli/base-command.ts'
import { keyScopes, keyState } from '../../../cli/format/api-key.ts'
import { ago, ahead } from '../../../cli/format/time.ts'
import { pagingFlags, toPaging } from '../../../cli/input/filters.ts'

export default class TenantKeyList extends AgentCommand {
  static override summary = 'List the keys of a tenant, with their last use'
  static override description =
    'The keys themselves are kept by nobody but the tenant. Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant key list <tenant id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
  }
  static override flags = pagingFlags

  async run() {
    const { args, flags } = await this.parse(TenantKeyList)
    const page = await this.call('GET /iam/entities/{id}/api-keys', {
      path: { id: args.id },
      query: toPaging(flags),
    })
    const now = Date.now()
    this.printList(
      page.contents,
      ({ id }) => id,
      [
        { head: 'id', of: ({ id }) => id },
        { head: 'name', of: ({ name }) => name, cut: 'end' },
        { head: 'state', of: keyState },
        { head: 'for', of: keyScopes, cut: 'end' },
        {
          head: 'last used',
          of: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : ago(lastUsedAt, now)),
          optional: true,
        },
        {
          head: 'expires',
          of: ({ state, expiresAt }) =>
            state === 'active' && expiresAt !== undefined ? ahead(expiresAt, now) : undefined,
          optional: true,
        },
        { head: 'created', of: ({ createdAt }) => ago(createdAt, now), optional: true },
      ],
      `The tenant has no keys. \`agent tenant key create ${args.id}\` makes one.`,
    )
    this.sayMore(page, flags)
    return page
  }
}
