/** Copying ids and invitations, which every pane has. */
import { shorten } from '../../format/width.ts'
import type { Action } from './action.ts'

/** Characters of the copied text that are said. */
const mostShown = 80

/** y copies the id, or the URL of an invitation that is open; Y always the id. */
export function copying(what: string, id: string, url?: string): Action[] {
  return [
    copy('y', url === undefined ? what : 'URL', url ?? id),
    ...(url === undefined ? [] : [copy('Y', what, id)]),
  ]
}

function copy(key: string, what: string, text: string): Action {
  return {
    key,
    word: `copy ${what}`,
    run: (desk) => {
      desk.copy(text)
      return Promise.resolve(
        `Copied the ${what}, if the terminal lets programs copy (OSC 52): ${shorten(text, mostShown, 'middle')}`,
      )
    },
  }
}
