/** The icon of the pages: part of each page, and at `/favicon.ico` for the replies that are no pages. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1d4fd7"/><circle cx="8" cy="6" r="2.5" fill="#fff"/><path d="M3.5 13a4.5 4 0 0 1 9 0z" fill="#fff"/></svg>'

export const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`
