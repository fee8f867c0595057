// Nothing but the headers that cmake/limber.cmake has precompiled.
