/** `agent auth list` */
import { AskingCommand, columns } from '../../cli/asking.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class AuthList extends AskingCommand {
  static override summary = 'List the challenges'
  static override examples = ['<%= config.bin %> auth list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(AuthList)
    const page = await this.call('GET /did-authentication/challenges', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ id }) => id,
      columns('auth'),
      'There are no challenges. `agent auth create` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
