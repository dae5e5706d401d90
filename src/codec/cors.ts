/** Lets the one configured Temporal UI call the codec from a browser. No other route speaks to browsers of another origin. */

import type { NextFunction, Request, Response } from 'express';

export function allowUi(uiOrigin: string) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!request.path.startsWith('/codec/')) return next();
    response.vary('Origin');
    if (request.headers.origin !== uiOrigin) return next();
    response.setHeader('Access-Control-Allow-Origin', uiOrigin);
    response.setHeader('Access-Control-Allow-Methods', 'POST, OPTIONS');
    response.setHeader('Access-Control-Allow-Headers', 'content-type, x-namespace, authorization');
    // A preflight carries no token and reveals nothing.
    if (request.method === 'OPTIONS') return void response.status(204).end();
    next();
  };
}
