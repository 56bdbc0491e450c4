/** `agent tenant key revoke` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../../cli/base-command.ts'
import { keyFields } from '../../../cli/format/api-key.ts'
import { confirm } from '../../../cli/prompts/confirm.ts'

export default class TenantKeyRevoke extends AgentCommand {
  static override summary = 'Revoke a key of a tenant: it lets nobody in any more, for good'
  static override description =
    'The key is named by its id, which `agent tenant key list` shows. Asks first; in scripts, --yes is the answer. Needs the administrator’s key.'
  static override examples = ['<%= config.bin %> tenant key revoke <tenant id> <key id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
    key: Args.string({ required: true, ignoreStdin: true, description: 'id of the key' }),
  }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(TenantKeyRevoke)
    if (!flags.yes)
      await confirm(`Revoke the key ${args.key} of the tenant ${args.id}? It never lets anybody in again.`)
    const key = await this.call('DELETE /iam/entities/{id}/api-keys/{keyId}', {
      path: { id: args.id, keyId: args.key },
    })
    this.print(key.id, keyFields(key))
    return key
  }
}
