/** `agent audit list` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { auditColumns } from '../../cli/format/audit.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { pagingFlags } from '../../cli/input/filters.ts'

const actors = ['admin', 'tenant', 'anonymous', 'agent'] as const
const outcomes = ['succeeded', 'failed', 'refused', 'unknown'] as const

export default class AuditList extends AgentCommand {
  static override summary = 'List what was done and who was refused, newest first'
  static override description =
    'What the administrator changes, operations of DIDs and keys, and refusals. What is past AUDIT_RETENTION is gone. Needs the administrator’s key.'
  static override examples = [
    '<%= config.bin %> audit list --limit 20',
    '<%= config.bin %> audit list --result refused --within 1d',
    '<%= config.bin %> audit list --action "DELETE /iam/entities/{id}" --json',
  ]
  static override flags = {
    actor: Flags.option({ options: actors, description: 'only what was done by one of this kind' })(),
    result: Flags.option({ options: outcomes, description: 'only what ended so' })(),
    action: Flags.string({ description: 'only this endpoint, such as "POST /wallets"' }),
    tenant: Flags.string({ description: 'only what this tenant did, by its id' }),
    wallet: Flags.string({ description: 'only what is about this wallet, by its id' }),
    request: Flags.string({ description: 'only the request with this x-request-id' }),
    within: Flags.string({ description: 'only what is no older: 90m, 12h, 30d' }),
    ...pagingFlags,
  }

  async run() {
    const { flags } = await this.parse(AuditList)
    const {
      actor,
      result: outcome,
      action,
      tenant: entityId,
      wallet: walletId,
      request: requestId,
      within,
    } = flags
    const since =
      within === undefined
        ? undefined
        : new Date(Date.now() - readSeconds('within', within) * 1_000).toISOString()
    const page = await this.call('GET /audit', {
      query: {
        limit: flags.limit,
        offset: flags.offset,
        actor,
        outcome,
        action,
        entityId,
        walletId,
        requestId,
        since,
      },
    })
    this.printList(
      page.contents,
      ({ sequence }) => String(sequence),
      auditColumns,
      'Nothing of the kind is in the audit log.',
    )
    this.sayMore(page, flags)
    return page
  }
}
