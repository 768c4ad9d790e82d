"""divulge"""
