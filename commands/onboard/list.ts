/** `agent onboard list` */
import { AskingCommand, columns } from '../../cli/asking.ts'
import { pagingFlags, toPaging } from '../../cli/input/filters.ts'

export default class OnboardList extends AskingCommand {
  static override summary = 'List the DID requests'
  static override examples = ['<%= config.bin %> onboard list']
  static override flags = pagingFlags

  async run() {
    const { flags } = await this.parse(OnboardList)
    const page = await this.call('GET /onboard/did-requests', { query: toPaging(flags) })
    this.printList(
      page.contents,
      ({ id }) => id,
      columns('onboard'),
      'There are no DID requests. `agent onboard create` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
