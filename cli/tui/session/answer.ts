/** Keys while a question is in front. */
import { edit, typed, valuesOf, type Form } from './edit.ts'
import { turnPage } from './page.ts'
import type { Ui } from './ui.ts'

/** The dashboard after a key, and what follows of it: the answer to the question, told once it is gone. */
export type Answered = { ui: Ui; after?: () => void }

/** Esc leaves every question without an answer. */
export function answer(ui: Ui, key: string): Answered {
  const { prompt } = ui
  const closed = { ...ui, prompt: undefined }
  switch (prompt?.kind) {
    case 'page': {
      if (key === 'escape' || key === 'ctrl-c') return { ui: closed }
      const { draft, send } = prompt
      if (draft === undefined && (key === 'q' || key === 'enter')) return { ui: closed }
      if (key !== 'enter') return { ui: { ...ui, prompt: turnPage(prompt, key, ui.size) ?? prompt } }
      if (!draft?.trim()) return { ui }
      return { ui: { ...ui, prompt: { ...prompt, draft: '', scroll: Infinity } }, after: () => send?.(draft) }
    }
    case 'qr':
      return ['escape', 'enter', 'q', 'Q'].includes(key) ? { ui: closed } : { ui }
    case 'filter':
      return filter(ui, key)
    case 'confirm':
      if (key === 'y' || key === 'Y') return { ui: closed, after: () => prompt.answer(true) }
      return ['n', 'N', 'escape', 'enter', 'q', 'ctrl-c'].includes(key)
        ? { ui: closed, after: () => prompt.answer(false) }
        : { ui }
    case 'choose': {
      const { options, at } = prompt
      if (key === 'escape' || key === 'q' || key === 'ctrl-c')
        return { ui: closed, after: () => prompt.answer(undefined) }
      if (key === 'enter') return { ui: closed, after: () => prompt.answer(options[at]) }
      const chosen = /^[1-9]$/.test(key) ? options[Number(key) - 1] : undefined
      if (chosen) return { ui: closed, after: () => prompt.answer(chosen) }
      const step =
        key === 'down' || key === 'j' || key === 'tab'
          ? 1
          : key === 'up' || key === 'k' || key === 'shift-tab'
            ? -1
            : 0
      return {
        ui: { ...ui, prompt: { ...prompt, at: Math.min(Math.max(at + step, 0), options.length - 1) } },
      }
    }
    case 'fill': {
      if (key === 'escape' || key === 'ctrl-c') return { ui: closed, after: () => prompt.answer(undefined) }
      if (key !== 'enter') return { ui: { ...ui, prompt: edit(prompt, key) ?? prompt } }
      const problem = problemOf(prompt)
      if (problem !== undefined) return { ui: { ...ui, prompt: { ...prompt, problem } } }
      return { ui: closed, after: () => prompt.answer(valuesOf(prompt)) }
    }
    case undefined:
      return { ui }
  }
}

function problemOf(form: Form): string | undefined {
  try {
    form.check?.(valuesOf(form))
  } catch (error) {
    return (error as Error).message
  }
}

/** What is typed filters at once; Enter keeps it, Esc takes it away. */
function filter(ui: Ui, key: string): Answered {
  const text = ui.filters[ui.pane] ?? ''
  const to = (next: string) => ({
    ...ui,
    filters: { ...ui.filters, [ui.pane]: next },
    selected: { ...ui.selected, [ui.pane]: undefined },
    scroll: 0,
  })
  if (key === 'enter') return { ui: { ...ui, prompt: undefined } }
  if (key === 'escape' || key === 'ctrl-c') return { ui: { ...to(''), prompt: undefined } }
  const next = typed(text, key)
  return { ui: next === undefined ? ui : to(next) }
}
