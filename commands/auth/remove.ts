/** `agent auth remove` */
import { idOf, RemovingCommand } from '../../cli/removing.ts'

export default class AuthRemove extends RemovingCommand {
  static override summary = 'Remove a challenge and close its link'
  static override description = 'Asks first; in scripts, --yes is the answer.'
  static override examples = ['<%= config.bin %> auth remove <id>']
  static override args = idOf('challenge')

  async run() {
    const { args, flags } = await this.parse(AuthRemove)
    return this.remove(args.id, flags, `Remove the challenge ${args.id}? It cannot be taken back.`, () =>
      this.call('DELETE /did-authentication/challenges/{challengeId}', { path: { challengeId: args.id } }),
    )
  }
}
