/** `agent tenant key remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../_base.ts'
import { readSecretFile } from '../../_input/secret-file.ts'
import { confirm } from '../../_ui/confirm.ts'

export default class TenantKeyRemove extends AgentCommand {
  static override summary = 'Take a key from a tenant: it lets nobody in any more, for good'
  static override description =
    'The key itself comes from a file or by standard input. Asks first; in scripts, --yes is the answer. Needs the administrator’s key.'
  static override examples = [
    '<%= config.bin %> tenant key remove <tenant id> alice.key',
    'pass agent/alice | <%= config.bin %> tenant key remove <tenant id> - --yes',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }),
    file: Args.string({ required: true, ignoreStdin: true, description: 'file of the key, - for standard input' }),
  }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(TenantKeyRemove)
    const apiKey = readSecretFile('file', args.file, (text) => this.say(text)).trim()
    if (!flags.yes) await confirm(`Take this key from the tenant ${args.id}? It never lets anybody in again.`)
    await this.call('DELETE /iam/apikey-authentication', { body: { entityId: args.id, apiKey } })
    this.print(args.id, [
      ['tenant', args.id],
      ['key', 'removed'],
    ])
    return { id: args.id, removed: true }
  }
}
