/** Responses of endpoints with a page: JSON for programs, a page for browsers, and events for an open page. */
import * as z from 'zod'
import type { Notifier } from '../../src/foundation/notifier.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { NotOwnerError } from '../../src/foundation/storage/not-owner-error.ts'
import type { Answer, Contract, Input } from '../http/route.ts'
import type { Texts } from './english.ts'
import { liveEvents, type Watched } from './live.ts'
import type { Page } from './page.ts'
import type * as AllViews from './views.ts'

/** The media types of an endpoint with a page. JSON is the default, since programs mostly send `Accept: any`. */
export const pageMedia = ['application/json', 'text/html'] as const

/** The media types of an endpoint whose page follows its link, and their bodies. */
export const livePage = {
  media: [...pageMedia, 'text/event-stream'],
  bodies: {
    'text/event-stream': z.string().meta({
      description: 'One event, `closed`, when the link is used, withdrawn or expired. The stream then ends.',
    }),
  },
} as const

/** A page, or where the browser goes instead. */
type Shown = Page | { redirect: string; cookie?: string }

type Request = Pick<Input<Contract>, 'accepts' | 'acceptsLanguage' | 'address' | 'whenGone'>

export type Views = typeof AllViews
export type { Page, Texts }

/** The JSON form and the page of one resource. */
export type Forms<Resource> = {
  read: () => Promise<Resource>
  toJson: (resource: Resource) => object
  toPage: (resource: Resource, views: Views, texts: Texts) => Shown | Promise<Shown>
}

const vary = { Vary: 'Accept, Accept-Language' }

export const loadViews = (): Promise<Views> => import('./views.ts')

/**
 * As `replyInForm`, and with events for an open page. `watch` says what closes a link that was read.
 *
 * @throws {Problem} what `read` throws, and `TooManyRequests`, unless the reply is a page, which shows the
 * problem
 */
export function replyLive<Resource>(
  notifier: Notifier,
  request: Request,
  {
    watch,
    closedBefore,
    ...forms
  }: Forms<Resource> & { watch: (resource: Resource) => Watched; closedBefore?: number[] },
): Promise<Answer<(typeof livePage)['media'][number]>> {
  if (request.accepts(livePage.media) !== 'text/event-stream') return replyInForm(request, forms)
  return liveEvents(notifier, request, async () => watch(await forms.read()), closedBefore)
}

/**
 * Replies with JSON or a page, as the `Accept` header prefers.
 *
 * @throws {NotOwnerError} of `read`: another process replies
 * @throws {Problem} what `read` throws, if the reply is JSON; a page shows the problem.
 */
export async function replyInForm<Resource>(
  request: Pick<Request, 'accepts' | 'acceptsLanguage'>,
  { read, toJson, toPage }: Forms<Resource>,
): Promise<Answer<(typeof pageMedia)[number]>> {
  if (request.accepts(pageMedia) !== 'text/html')
    return { type: 'application/json', body: toJson(await read()), headers: vary }
  const { headers, ...answer } = await replyPage(request, async (views, texts) =>
    toPage(await read(), views, texts),
  )
  return { ...answer, headers: { ...headers, ...vary } }
}

/**
 * Replies with a page, in a language that the client accepts, or redirects the browser. A page shows
 * problems.
 *
 * @throws {NotOwnerError} of `toPage`: another process replies
 */
export async function replyPage(
  { acceptsLanguage }: Pick<Request, 'acceptsLanguage'>,
  toPage: (views: Views, texts: Texts) => Promise<Shown>,
): Promise<Answer<'text/html'>> {
  const views = await loadViews()
  const language = acceptsLanguage(Object.keys(views.languages)) as keyof typeof views.languages | undefined
  const texts = views.languages[language ?? 'en']
  const page = await toPage(views, texts).catch((error: unknown) => {
    if (!(error instanceof Problem) || error instanceof NotOwnerError) throw error
    return views.problemPage(texts, error)
  })
  // With 303, the browser does not send a form on (RFC 9700 §4.12).
  if ('redirect' in page)
    return {
      status: 303,
      type: 'text/html',
      body: '',
      headers: {
        Location: page.redirect,
        ...(page.cookie !== undefined && { 'Set-Cookie': page.cookie, 'Cache-Control': 'no-store' }),
      },
    }
  return views.render(texts, page)
}
